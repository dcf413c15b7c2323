package dev.holdfast.testkit.sim;

import java.util.function.LongFunction;
import java.util.function.Supplier;

/**
 * Runs whole clients against one store in a world of virtual time, from one seed: the same seed is the same run, event
 * by event.
 *
 * <p><b>Thread-safety:</b> immutable; each run is made by the calling thread alone, and runs of several threads don't
 * touch each other.
 */
public final class Simulation {

    /** How many lines are kept of a run that failed. */
    private static final int LINES = Integer.getInteger("holdfast.sim.lines", 400);

    private final ClientUnderTest.Starter starter;
    private final Supplier<SimStore> stores;
    private final LongFunction<String> replay;

    /**
     * Sets up a simulation.
     *
     * @param starter starts the clients
     * @param stores makes an empty store
     * @param replay how to run a seed again, in words or as a command line: the last line that a failure shows
     */
    public Simulation(ClientUnderTest.Starter starter, Supplier<SimStore> stores, LongFunction<String> replay) {
        this.starter = starter;
        this.stores = stores;
        this.replay = replay;
    }

    /**
     * How a run went.
     *
     * @param hash of all that happened, in order
     * @param events how much happened
     * @param coverage what situations it led to
     */
    public record Result(long hash, long events, Coverage coverage) {}

    /**
     * Runs one seed.
     *
     * @throws SimulationFailure if a rule was broken, with the last lines of the trace
     */
    public Result run(long seed) {
        try {
            return play(seed, Trace.hashOnly());
        } catch (SimulationFailure failure) {
            throw inWords(seed, failure);
        }
    }

    /**
     * Runs one seed, and says no more than which rule was broken: many times faster when most seeds fail, as with a
     * mutant.
     */
    Result runBriefly(long seed) {
        return play(seed, Trace.hashOnly());
    }

    private Result play(long seed, Trace trace) {
        Run run = new Run(seed, trace, starter, stores);
        run.toTheEnd();
        return new Result(trace.hash(), run.world.events(), run.coverage);
    }

    private SimulationFailure inWords(long seed, SimulationFailure failure) {
        Trace trace = Trace.inWords(LINES);
        Run run = new Run(seed, trace, starter, stores);
        try {
            run.toTheEnd();
        } catch (SimulationFailure again) {
            return again.withReplay(seed, run.plan.toString(), trace.lines(), replay.apply(seed));
        }
        return failure.withReplay(
                seed,
                run.plan + "\nTHE SECOND RUN OF THIS SEED DID NOT FAIL: something in it depends on more than the seed",
                trace.lines(),
                replay.apply(seed));
    }
}
