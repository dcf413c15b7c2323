package dev.holdfast.spring.execution;

import dev.holdfast.Hold;
import dev.holdfast.Loss;
import dev.holdfast.MultiHold;
import dev.holdfast.ReleaseOutcome;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Several locks, acquired all or nothing. */
record SeveralHolds(MultiHold hold, List<String> names, String prefix) implements HeldLocks {

    /** Removes the client's prefix from the names, which a multi-hold returns with it. */
    static SeveralHolds of(MultiHold hold, List<String> names) {
        int added = (length(hold.names()) - length(names)) / names.size();
        return new SeveralHolds(
                hold,
                hold.names().stream().map(name -> name.substring(added)).toList(),
                hold.names().get(0).substring(0, added));
    }

    private static int length(List<String> names) {
        return names.stream().mapToInt(String::length).sum();
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
        return hold.fencingToken(prefix + name);
    }

    @Override
    public String holdId(String name) {
        return hold.holdId(prefix + name);
    }

    @Override
    public Optional<Hold> single() {
        return Optional.empty();
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
