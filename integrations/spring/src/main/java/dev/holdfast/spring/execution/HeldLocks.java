package dev.holdfast.spring.execution;

import dev.holdfast.Hold;
import dev.holdfast.Loss;
import dev.holdfast.MultiHold;
import dev.holdfast.ReleaseOutcome;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** What an owner has in hand, one lock or several: a {@link Hold} or a {@link MultiHold}. */
public sealed interface HeldLocks permits SingleHold, SeveralHolds {

    static HeldLocks of(Hold hold, List<String> names) {
        return new SingleHold(hold, names);
    }

    static HeldLocks of(MultiHold hold, List<String> names) {
        return SeveralHolds.of(hold, names);
    }

    /** The names as they were asked for: without what the client puts before all of its names. */
    List<String> names();

    boolean isHeld();

    /** As {@link Hold#ensureHeld()}. */
    void ensureHeld();

    /** As {@link Hold#fencingToken()}, of one of the names. */
    long fencingToken(String name);

    /** As {@link Hold#holdId()}, of one of the names. */
    String holdId(String name);

    /** The hold of the only name; empty if there are several. */
    Optional<Hold> single();

    void onLost(Consumer<Loss> listener);

    /** As {@link Hold#releaseAsync()}; the worst of the outcomes. */
    CompletionStage<ReleaseOutcome> releaseAsync();

    /** As {@link Hold#close()}. */
    void close();

    /** Fails with {@link dev.holdfast.LockLostException} if a lock is lost for sure; never blocks. */
    default void failIfLost() {
        for (String name : names()) {
            long unused = fencingToken(name);
        }
    }
}
