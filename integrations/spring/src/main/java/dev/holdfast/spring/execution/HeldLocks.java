package dev.holdfast.spring.execution;

import dev.holdfast.Hold;
import dev.holdfast.Loss;
import dev.holdfast.MultiHold;
import dev.holdfast.ReleaseOutcome;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** One hold or several, acquired together: a {@link Hold} or a {@link MultiHold}. */
public sealed interface HeldLocks permits SingleHold, SeveralHolds {

    static HeldLocks of(Hold hold, List<String> names) {
        return new SingleHold(hold, names);
    }

    static HeldLocks of(MultiHold hold, List<String> names) {
        return SeveralHolds.of(hold, names);
    }

    /** The names as requested, without the prefix of the client. */
    List<String> names();

    boolean isHeld();

    /** See {@link Hold#ensureHeld()}. */
    void ensureHeld();

    /** The token of one of the names, see {@link Hold#fencingToken()}. */
    long fencingToken(String name);

    /** The id of one of the names, see {@link Hold#holdId()}. */
    String holdId(String name);

    /** The hold of the only name; empty if there are several. */
    Optional<Hold> single();

    void onLost(Consumer<Loss> listener);

    /** Releases all, see {@link Hold#releaseAsync()}, and returns the worst outcome. */
    CompletionStage<ReleaseOutcome> releaseAsync();

    /** See {@link Hold#close()}. */
    void close();

    /** Throws {@link dev.holdfast.LockLostException} if a lock is known to be lost; never blocks. */
    default void failIfLost() {
        for (String name : names()) {
            long unused = fencingToken(name);
        }
    }
}
