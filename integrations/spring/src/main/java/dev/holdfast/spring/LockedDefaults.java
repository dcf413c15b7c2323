package dev.holdfast.spring;

import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;

/**
 * What holds for annotations that don't say otherwise; a bean of this type replaces the {@linkplain #standard()
 * standard} ones. Immutable; each {@code with} method answers a changed copy.
 */
public final class LockedDefaults {

    private static final LockedDefaults STANDARD = new LockedDefaults(Duration.ofSeconds(10), SelfInvocation.REFUSE);

    private final Duration maxWait;
    private final SelfInvocation selfInvocation;

    private LockedDefaults(Duration maxWait, SelfInvocation selfInvocation) {
        this.maxWait = maxWait;
        this.selfInvocation = selfInvocation;
    }

    /** Waits of ten seconds at most; self-invocation that is found is refused. */
    public static LockedDefaults standard() {
        return STANDARD;
    }

    /**
     * For how long others are waited for.
     *
     * @param wait zero (one attempt) or longer
     * @throws IllegalArgumentException if it is negative
     */
    public LockedDefaults withMaxWait(Duration wait) {
        if (wait.isNegative()) {
            throw new IllegalArgumentException("maxWait must not be negative, but was " + DurationFormat.format(wait));
        }
        return new LockedDefaults(wait, selfInvocation);
    }

    /** What happens when a class calls a locked method of its own, which goes past the proxy and takes no lock. */
    public LockedDefaults withSelfInvocation(SelfInvocation reaction) {
        return new LockedDefaults(maxWait, reaction);
    }

    /** For how long others are waited for. */
    public Duration maxWait() {
        return maxWait;
    }

    /** What happens when a class calls a locked method of its own. */
    public SelfInvocation selfInvocation() {
        return selfInvocation;
    }

    @Override
    public String toString() {
        return "maxWait=" + maxWait + " selfInvocation=" + selfInvocation;
    }

    /** What happens when a class is found to call a locked method of its own. */
    public enum SelfInvocation {
        /** The bean is not made, so the start fails. */
        REFUSE,
        /** A warning is logged. */
        WARN,
        /** Nothing; classes are not looked into. */
        ALLOW
    }
}
