package dev.holdfast.spring.execution;

import dev.holdfast.Hold;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** One lock. */
record SingleHold(Hold hold, List<String> names) implements HeldLocks {

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
        return hold.fencingToken();
    }

    @Override
    public String holdId(String name) {
        return hold.holdId();
    }

    @Override
    public Optional<Hold> single() {
        return Optional.of(hold);
    }

    @Override
    public void onLost(Consumer<Loss> listener) {
        hold.onLost(listener);
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        return hold.releaseAsync();
    }

    @Override
    public void close() {
        hold.close();
    }
}
