package dev.holdfast.micrometer;

import dev.holdfast.HoldfastListener.AcquireRequest;
import io.micrometer.observation.Observation;
import java.util.OptionalLong;

/** The context of an observation of a wait or a hold. Used by one thread after another. */
public final class LockObservationContext extends Observation.Context {

    private final AcquireRequest request;
    private String outcome = "none";
    private OptionalLong token = OptionalLong.empty();

    LockObservationContext(AcquireRequest request) {
        this.request = request;
    }

    /** The request. */
    public AcquireRequest request() {
        return request;
    }

    /**
     * The outcome: of a wait {@code granted}, {@code handed-over}, {@code taken}, {@code timed-out}, {@code cancelled}
     * or {@code failed}; of a hold {@code released}, {@code lost} or {@code unconfirmed}; {@code none} before that.
     */
    public String outcome() {
        return outcome;
    }

    /** The fencing token; empty without a grant. */
    public OptionalLong token() {
        return token;
    }

    void granted(long fencingToken) {
        token = OptionalLong.of(fencingToken);
    }

    void ended(String how) {
        outcome = how;
    }
}
