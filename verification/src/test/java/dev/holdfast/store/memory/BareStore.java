package dev.holdfast.store.memory;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Advance;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.testkit.sim.SimStore;
import java.time.Duration;
import java.util.List;

/** A passive store with no more than a store must have: it pushes nothing, and gives one block of tokens to a grant. */
public final class BareStore implements SimStore {

    private final SimStore store = new PassiveStore();
    private final boolean promisesTokens;

    /**
     * Makes an empty store.
     *
     * @param promisesTokens whether it says that a grant may be given more tokens, and then never has any
     */
    public BareStore(boolean promisesTokens) {
        this.promisesTokens = promisesTokens;
    }

    @Override
    public StoreTraits traits() {
        return store.traits().toBuilder()
                .without(Feature.PUSH, Feature.ADVANCE)
                .withIf(promisesTokens, Feature.ADVANCE)
                .pollEvery(Duration.ofMillis(50))
                .build();
    }

    @Override
    public boolean isPassive() {
        return true;
    }

    @Override
    public ReferenceMachine.Outcome apply(Command command, long unixMicros) {
        return new ReferenceMachine.Outcome(answer(command, unixMicros), List.of());
    }

    private Reply answer(Command command, long unixMicros) {
        if (!(command instanceof Advance advance)) {
            return store.apply(command, unixMicros).reply();
        } else if (!promisesTokens) {
            throw new IllegalStateException("Asked for what the traits rule out: " + advance);
        }
        // Guarded by a block that never was, it looks and does nothing.
        Advance look = new Advance(advance.claim(), 0, advance.tokens(), 0);
        return store.apply(look, unixMicros).reply() instanceof Reply.Absent
                ? new Reply.Absent()
                : new Reply.Unsupported("a grant has one block");
    }
}
