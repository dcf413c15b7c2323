package dev.holdfast.spring.execution;

import dev.holdfast.Loss;
import dev.holdfast.MultiHold;
import dev.holdfast.ReleaseOutcome;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Several locks in hand, all or nothing. */
record SeveralHolds(MultiHold hold) implements HeldLocks {

    @Override
    public List<String> names() {
        return hold.names();
    }

    @Override
    public boolean isHeld() {
        return hold.isHeld();
    }

    @Override
    public void ensureHeld() {
        hold.ensureHeld();
    }

    @Override
    public long fencingToken(String name) {
        return hold.fencingToken(name);
    }

    @Override
    public void onLost(Consumer<Loss> listener) {
        hold.onLost(listener);
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        return hold.releaseAsync().thenApply(outcomes -> worst(outcomes.values()));
    }

    private static ReleaseOutcome worst(Collection<ReleaseOutcome> outcomes) {
        return Stream.of(ReleaseOutcome.LOST, ReleaseOutcome.UNCONFIRMED)
                .filter(outcomes::contains)
                .findFirst()
                .orElse(ReleaseOutcome.RELEASED);
    }

    @Override
    public void close() {
        hold.close();
    }
}
