package dev.holdfast.spi;

import java.time.Duration;

/**
 * What ends a claim, other than its release.
 *
 * @param binding how the claim depends on its session
 * @param length how long a grant of it lasts from the moment its claimant picks it up; {@link Duration#ZERO} for
 *     {@link Binding#SESSION}
 */
public record Lease(Binding binding, Duration length) {

    /** Ends with the session, and is renewed with it. */
    public static final Lease SESSION = new Lease(Binding.SESSION, Duration.ZERO);

    /** How a claim depends on its session. */
    public enum Binding {
        /** Ends with its session. */
        SESSION,
        /** Ends with its session or after its own length, whichever is first. */
        BOUNDED,
        /** Once picked up, only its own length or a release ends it; until then it needs its session. */
        DETACHED
    }

    /**
     * Checks the length.
     *
     * @throws IllegalArgumentException if the length does not suit the binding
     */
    public Lease {
        boolean none = length.isZero();
        if (length.isNegative() || none != (binding == Binding.SESSION)) {
            throw new IllegalArgumentException("A " + binding + " lease can't have the length " + length);
        }
    }

    /** A lease of the given length that also ends with the session. */
    public static Lease bounded(Duration length) {
        return new Lease(Binding.BOUNDED, length);
    }

    /** A lease of the given length that outlives the session. */
    public static Lease detached(Duration length) {
        return new Lease(Binding.DETACHED, length);
    }
}
