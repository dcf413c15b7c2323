package dev.holdfast.engine;

import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.store.memory.BareStore;
import dev.holdfast.store.memory.PassiveStore;
import dev.holdfast.store.memory.ReferenceMachine;
import dev.holdfast.testkit.sim.SimStore;
import dev.holdfast.testkit.sim.Simulation;
import java.util.function.Supplier;

/** The sound stores that clients are simulated on. */
enum SimulatedStore {
    /** The executable specification: acts on each expiry at once, pushes, and has tokens without end. */
    REFERENCE(1, SimStore::reference),
    /** A store that detects expiry only where a command uses it, as a table of rows does. */
    PASSIVE(5, PassiveStore::new),
    /** A passive one that pushes nothing and gives one block of tokens to a grant. */
    BARE(5, () -> new BareStore(false)),
    /** The same, but it promises more tokens and never has them. */
    BARE_AND_VAIN(20, () -> new BareStore(true)),
    /** The reference, with sessions in parts that fail one by one. */
    PARTS(4, () -> SimStore.of(new ReferenceMachine(3)));

    /** Of how many seeds one is run here. */
    final long share;

    private final Supplier<SimStore> stores;

    SimulatedStore(long share, Supplier<SimStore> stores) {
        this.share = share;
        this.stores = stores;
    }

    /** A whole engine on this store. */
    Simulation simulation() {
        return new Simulation(
                EngineUnderTest.keeping(new SafetyRules()),
                stores,
                seed -> "./mvnw -pl verification -am test -Dtest=SimulationTest"
                        + " -Dsurefire.failIfNoSpecifiedTests=false -Dholdfast.sim.store=" + name()
                        + " -Dholdfast.sim.seed=" + seed);
    }
}
