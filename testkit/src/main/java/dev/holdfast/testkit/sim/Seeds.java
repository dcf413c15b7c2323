package dev.holdfast.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongConsumer;

/**
 * Runs many seeds of a simulation, and judges the whole: every seed passes, some are run twice and must be the same,
 * and every situation was reached.
 */
public final class Seeds {

    private static final int TWICE_EVERY = 100;

    /** The number of consecutive seeds that one thread runs. */
    private static final long SHARE = 50;

    private final Simulation simulation;

    /** Sets up the runs. */
    public Seeds(Simulation simulation) {
        this.simulation = simulation;
    }

    /**
     * What came of the seeds.
     *
     * @param seeds how many were run
     * @param events how much happened in all
     * @param coverage what situations they led to
     */
    public record Summary(long seeds, long events, Coverage coverage) {}

    /**
     * Runs the seeds from {@code first} to {@code first + count - 1}, on as many threads as there are processors: a
     * seed has nothing to do with another.
     *
     * @throws SimulationFailure at the first seed that breaks a rule, or that is not the same the second time
     */
    public Summary run(long first, long count) {
        ExecutorService threads =
                Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        try {
            List<Future<Summary>> shares = new ArrayList<>();
            for (long from = first; from < first + count; from += SHARE) {
                long begin = from;
                long seeds = Math.min(SHARE, first + count - from);
                shares.add(threads.submit(() -> run(begin, seeds, seed -> {})));
            }
            Coverage coverage = new Coverage();
            long events = 0;
            for (Future<Summary> share : shares) {
                Summary summary = share.get();
                events += summary.events();
                coverage.addAll(summary.coverage());
            }
            return new Summary(count, events, coverage);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SimulationFailure failure) {
                throw failure;
            }
            throw new IllegalStateException("A seed could not be run", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while seeds were run", e);
        } finally {
            threads.shutdownNow();
        }
    }

    /**
     * The first seed that breaks a rule.
     *
     * @param seed the seed
     * @param failure what was broken, in brief
     */
    public record Finding(long seed, SimulationFailure failure) {}

    /** Searches for a seed from {@code first} to {@code first + count - 1} that breaks a rule; empty if none does. */
    public Optional<Finding> find(long first, long count) {
        for (long seed = first; seed < first + count; seed++) {
            try {
                var unused = simulation.runBriefly(seed);
            } catch (SimulationFailure failure) {
                return Optional.of(new Finding(seed, failure));
            }
        }
        return Optional.empty();
    }

    /** As {@link #run(long, long)}, on this thread; reports each seed before it runs. */
    public Summary run(long first, long count, LongConsumer listener) {
        Coverage coverage = new Coverage();
        long events = 0;
        for (long seed = first; seed < first + count; seed++) {
            listener.accept(seed);
            Simulation.Result result = simulation.run(seed);
            events += result.events();
            coverage.addAll(result.coverage());
            if (seed % TWICE_EVERY == 0 && simulation.run(seed).hash() != result.hash()) {
                throw new SimulationFailure(
                        Rule.SAME_RUN, "seed " + seed + " was another run the second time", result.events(), 0);
            }
        }
        return new Summary(count, events, coverage);
    }
}
