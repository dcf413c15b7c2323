package dev.holdfast.testkit.sim;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.store.memory.ReferenceMachine;
import dev.holdfast.store.memory.ReferenceStore;

/** The store of a simulated world: a state machine without threads, clocks or random numbers. */
public interface SimStore {

    /** What it promises. Constant. */
    StoreTraits traits();

    /**
     * Whether it handles an expiry only in a step on that resource or session, as a table of rows does; otherwise it
     * does so in the next step.
     */
    default boolean isPassive() {
        return false;
    }

    /** As {@link dev.holdfast.spi.LockStore#partitions()}. */
    default int partitions() {
        return 1;
    }

    /** As {@link dev.holdfast.spi.LockStore#partitionOf}. */
    default int partitionOf(ResourceName name) {
        return 0;
    }

    /**
     * Carries out one command in one atomic step.
     *
     * @param unixMicros the store's clock, in microseconds since 1970; may go back
     */
    ReferenceMachine.Outcome apply(Command command, long unixMicros);

    /** The reference machine, empty. */
    static SimStore reference() {
        return of(new ReferenceMachine());
    }

    /** A machine as the store of a world. */
    static SimStore of(ReferenceMachine machine) {
        StoreTraits traits = new ReferenceStore().traits();
        return new SimStore() {
            @Override
            public StoreTraits traits() {
                return traits;
            }

            @Override
            public int partitions() {
                return machine.partitions();
            }

            @Override
            public int partitionOf(ResourceName name) {
                return machine.partitionOf(name);
            }

            @Override
            public ReferenceMachine.Outcome apply(Command command, long unixMicros) {
                return machine.apply(command, unixMicros);
            }
        };
    }
}
