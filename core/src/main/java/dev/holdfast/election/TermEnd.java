package dev.holdfast.election;

import dev.holdfast.Loss;
import java.util.Optional;

/**
 * How a term ended.
 *
 * @param reason why
 * @param loss what was lost, if the reason is {@link Reason#LOST}
 * @param failure what {@link Candidate#onElected} threw, if the reason is {@link Reason#FAILED}
 */
public record TermEnd(Reason reason, Optional<Loss> loss, Optional<Throwable> failure) {

    /** Why a term ended. */
    public enum Reason {
        /** It was lost: another may lead by now. */
        LOST,
        /** The leader resigned. */
        RESIGNED,
        /** The candidate threw an exception. */
        FAILED,
        /** The campaign was closed. */
        CLOSED
    }

    /** The end of a term that was lost. */
    public static TermEnd lost(Loss loss) {
        return new TermEnd(Reason.LOST, Optional.of(loss), Optional.empty());
    }

    /** The end of a term whose leader threw an exception. */
    public static TermEnd failed(Throwable failure) {
        return new TermEnd(Reason.FAILED, Optional.empty(), Optional.of(failure));
    }

    /** The end of a term that was resigned, or whose campaign was closed. */
    public static TermEnd givenUp(Reason reason) {
        return new TermEnd(reason, Optional.empty(), Optional.empty());
    }
}
