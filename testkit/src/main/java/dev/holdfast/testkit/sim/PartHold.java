package dev.holdfast.testkit.sim;

import dev.holdfast.Hold;
import dev.holdfast.Loss;
import dev.holdfast.MultiHold;
import dev.holdfast.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** One part of a multi-hold, seen through the hold of all parts: held while all are, lost with the first. */
record PartHold(MultiHold all, String name) implements Hold {

    static List<Hold> of(MultiHold all) {
        return all.names().stream().map(name -> (Hold) new PartHold(all, name)).toList();
    }

    @Override
    public long fencingToken() {
        return all.fencingToken(name);
    }

    @Override
    public String holdId() {
        return all.holdId(name);
    }

    @Override
    public boolean isHeld() {
        return all.isHeld();
    }

    @Override
    public void ensureHeld() {
        all.ensureHeld();
    }

    @Override
    public Duration remaining() {
        return all.remaining();
    }

    @Override
    public Duration effectiveLease() {
        return all.effectiveLease();
    }

    @Override
    public Hold onLost(Consumer<Loss> listener) {
        all.onLost(listener);
        return this;
    }

    @Override
    public void extend(Duration lease) {
        all.extend(lease);
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        return all.releaseAsync().thenApply(outcomes -> outcomes.get(name));
    }

    @Override
    public void close() {
        all.close();
    }
}
