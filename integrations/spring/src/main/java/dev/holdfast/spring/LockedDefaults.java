package dev.holdfast.spring;

import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;

/**
 * What holds for annotations that don't say otherwise; a bean of this type replaces the {@linkplain #standard()
 * standard} ones. Immutable; each {@code with} method answers a changed copy.
 */
public final class LockedDefaults {

    private static final LockedDefaults STANDARD =
            new LockedDefaults(Duration.ofSeconds(10), SelfInvocation.REFUSE, ClientOpening.AT_START);

    private final Duration maxWait;
    private final SelfInvocation selfInvocation;
    private final ClientOpening clientOpening;

    private LockedDefaults(Duration maxWait, SelfInvocation selfInvocation, ClientOpening clientOpening) {
        this.maxWait = maxWait;
        this.selfInvocation = selfInvocation;
        this.clientOpening = clientOpening;
    }

    /**
     * Waits of ten seconds at most; self-invocation that is found is refused; the clients of annotated methods are
     * opened when the application starts.
     */
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
        return new LockedDefaults(wait, selfInvocation, clientOpening);
    }

    /** What happens when a class calls a locked method of its own, which goes past the proxy and takes no lock. */
    public LockedDefaults withSelfInvocation(SelfInvocation reaction) {
        return new LockedDefaults(maxWait, reaction, clientOpening);
    }

    /** When the clients of annotated methods are opened. */
    public LockedDefaults withClientOpening(ClientOpening opening) {
        return new LockedDefaults(maxWait, selfInvocation, opening);
    }

    /** For how long others are waited for. */
    public Duration maxWait() {
        return maxWait;
    }

    /** What happens when a class calls a locked method of its own. */
    public SelfInvocation selfInvocation() {
        return selfInvocation;
    }

    /** When the clients of annotated methods are opened. */
    public ClientOpening clientOpening() {
        return clientOpening;
    }

    @Override
    public String toString() {
        return "maxWait=" + maxWait + " selfInvocation=" + selfInvocation + " clientOpening=" + clientOpening;
    }

    /** When a {@link dev.holdfast.Holdfast} bean that is lazy is made for the methods that need it. */
    public enum ClientOpening {
        /** When the application starts, which fails if the client can't be made. */
        AT_START,
        /** When a method is called that needs it; that call gets the failure if the client can't be made. */
        ON_FIRST_USE
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
