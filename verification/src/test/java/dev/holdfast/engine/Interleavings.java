package dev.holdfast.engine;

import dev.holdfast.Environment;
import dev.holdfast.engine.client.ClientOptions;
import dev.holdfast.engine.wire.RoundTrips;
import dev.holdfast.store.memory.ReferenceStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;

/** How the interleavings of threads are run through, and what they run on. */
final class Interleavings {

    /** The tag of what runs by {@code ./mvnw -Pinterleavings} only. */
    static final String SLOW = "interleavings";

    /**
     * The tag of the tests that run in each build, in a separate JVM: Lincheck redefines every loaded class, one by
     * one, and for each the JVM scans all of them. With the classes of other tests that takes many minutes.
     */
    static final String IN_ITS_OWN_JVM = "redefining";

    private Interleavings() {}

    /** Stopped time and no threads of its own: only the interleaving determines what happens. */
    private static final class Frozen implements Environment {
        private long random;

        @Override
        public long monotonicNanos() {
            return 0;
        }

        @Override
        public long bootNanos() {
            return 0;
        }

        @Override
        public long wallMillis() {
            return 0;
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            if (delayNanos <= 0) {
                task.run(); // on any thread, since time stands still
            }
            return () -> {};
        }

        @Override
        public void parkUntil(Object blocker, long deadline) {
            LockSupport.park(blocker);
        }

        @Override
        public Executor callbacks() {
            return Runnable::run;
        }

        @Override
        public long randomLong() {
            return ++random;
        }
    }

    static ReferenceStore newStore() {
        return new ReferenceStore(() -> 1_750_000_000_000_000L);
    }

    /**
     * A client.
     *
     * @param budget with none, each hand-over goes by the store
     */
    static Engine client(ReferenceStore store, String label, Duration budget) {
        ClientOptions options = new ClientOptions(
                Duration.ofSeconds(30), Duration.ofSeconds(10), budget, Duration.ofSeconds(10), label);
        return Engine.start(store::connect, "memory", false, options, Optional.of(new Frozen()));
    }

    static StressOptions byTheMachine() {
        return new StressOptions()
                .iterations(5)
                .invocationsPerIteration(500)
                .threads(3)
                .actorsPerThread(2)
                .actorsBefore(1)
                .actorsAfter(1)
                .minimizeFailedScenario(false);
    }

    /** What has no part in the exclusion is taken as one step, for the sake of depth elsewhere. */
    static ModelCheckingOptions byTheExplorer() {
        return new ModelCheckingOptions()
                .iterations(Integer.getInteger("holdfast.interleavings.scenarios", 5))
                .invocationsPerIteration(Integer.getInteger("holdfast.interleavings.runs", 100))
                .threads(2)
                .actorsPerThread(1)
                .actorsBefore(0)
                .actorsAfter(1)
                .loopBound(100_000)
                .loopIterationsBeforeThreadSwitch(1_000)
                .minimizeFailedScenario(false)
                .addGuarantee(ManagedStrategyGuaranteeKt.forClasses(
                                RoundTrips.class.getName(), ReferenceStore.class.getName())
                        .allMethods()
                        .treatAsAtomic());
    }
}
