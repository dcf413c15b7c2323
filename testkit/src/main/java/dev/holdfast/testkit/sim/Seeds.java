package dev.holdfast.testkit.sim;

import java.util.Optional;
import java.util.function.LongConsumer;

/** Runs many seeds of a simulation, and judges the whole: every seed passes, some are run twice and must be the same, and every situation was reached. */
public final class Seeds {

    private static final int TWICE_EVERY = 100;

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
     * @param reached what situations they led to
     */
    public record Summary(long seeds, long events, Reached reached) {}

    /**
     * Runs the seeds from {@code first} to {@code first + count - 1}.
     *
     * @throws SimulationFailure at the first seed that breaks a rule, or that is not the same the second time
     */
    public Summary run(long first, long count) {
        return run(first, count, seed -> {});
    }

    /**
     * The first seed that breaks a rule.
     *
     * @param seed the seed
     * @param failure what was broken, in brief
     */
    public record Finding(long seed, SimulationFailure failure) {}

    /** Looks for a seed from {@code first} to {@code first + count - 1} that breaks a rule; empty if none does. */
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

    /** As {@link #run(long, long)}; tells each seed before it is run. */
    public Summary run(long first, long count, LongConsumer listener) {
        Reached reached = new Reached();
        long events = 0;
        for (long seed = first; seed < first + count; seed++) {
            listener.accept(seed);
            Simulation.Result result = simulation.run(seed);
            events += result.events();
            reached.addAll(result.reached());
            if (seed % TWICE_EVERY == 0 && simulation.run(seed).hash() != result.hash()) {
                throw new SimulationFailure(
                        Rule.SAME_RUN, "seed " + seed + " was another run the second time", result.events(), 0);
            }
        }
        return new Summary(count, events, reached);
    }
}
