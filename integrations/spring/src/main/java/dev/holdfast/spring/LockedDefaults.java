package dev.holdfast.spring;

import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.task.TaskOptions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What applies to annotations that don't set it; a bean of this type replaces the {@linkplain #standard() standard}
 * ones. Immutable; each {@code with} method returns a changed copy.
 */
public final class LockedDefaults {

    private static final LockedDefaults STANDARD = new LockedDefaults(
            Duration.ofSeconds(10),
            TimeoutReaction.THROW,
            LossReaction.INTERRUPT,
            SurroundingTransaction.HOLD,
            null,
            SelfInvocation.REFUSE,
            Map.of(),
            ClientOpening.AT_START);

    private final Duration maxWait;
    private final TimeoutReaction onTimeout;
    private final LossReaction onLoss;
    private final SurroundingTransaction inTransaction;
    private final @Nullable Duration atMost;
    private final SelfInvocation selfInvocation;
    private final Map<Class<?>, SelfInvocation> selfInvocations;
    private final ClientOpening opening;

    private LockedDefaults(
            Duration maxWait,
            TimeoutReaction onTimeout,
            LossReaction onLoss,
            SurroundingTransaction inTransaction,
            @Nullable Duration atMost,
            SelfInvocation selfInvocation,
            Map<Class<?>, SelfInvocation> selfInvocations,
            ClientOpening opening) {
        this.maxWait = maxWait;
        this.onTimeout = onTimeout;
        this.onLoss = onLoss;
        this.inTransaction = inTransaction;
        this.atMost = atMost;
        this.selfInvocation = selfInvocation;
        this.selfInvocations = selfInvocations;
        this.opening = opening;
    }

    /**
     * Waits of ten seconds at most, which throw when they time out; an interrupt at a loss; locks that are kept until a
     * transaction of the caller has completed; self-invocation that is found is refused; the clients of annotated
     * methods are opened when the application starts.
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
        return new LockedDefaults(
                wait, onTimeout, onLoss, inTransaction, atMost, selfInvocation, selfInvocations, opening);
    }

    /** What happens when others kept the lock for all of the maximum wait, at methods without a fallback or handler. */
    public LockedDefaults withOnTimeout(TimeoutReaction reaction) {
        return new LockedDefaults(
                maxWait, reaction, onLoss, inTransaction, atMost, selfInvocation, selfInvocations, opening);
    }

    /** What happens when the lock is lost while the method runs. */
    public LockedDefaults withOnLoss(LossReaction reaction) {
        return new LockedDefaults(
                maxWait, onTimeout, reaction, inTransaction, atMost, selfInvocation, selfInvocations, opening);
    }

    /** What happens when the caller has begun a transaction. */
    public LockedDefaults withSurroundingTransaction(SurroundingTransaction reaction) {
        return new LockedDefaults(
                maxWait, onTimeout, onLoss, reaction, atMost, selfInvocation, selfInvocations, opening);
    }

    /**
     * For how long the lock of a {@link ScheduledLock} lasts at most; longer than the longest run of any job.
     *
     * @throws IllegalArgumentException if it is out of range, as in {@link TaskOptions#atMost(Duration)}
     */
    public LockedDefaults withAtMost(Duration most) {
        TaskOptions unused = TaskOptions.atMost(most);
        return new LockedDefaults(
                maxWait, onTimeout, onLoss, inTransaction, most, selfInvocation, selfInvocations, opening);
    }

    /** What happens when a class calls a locked method of its own, which goes past the proxy and takes no lock. */
    public LockedDefaults withSelfInvocation(SelfInvocation reaction) {
        return new LockedDefaults(
                maxWait, onTimeout, onLoss, inTransaction, atMost, reaction, selfInvocations, opening);
    }

    /** As {@link #withSelfInvocation(SelfInvocation)}, for one class and its subclasses. */
    public LockedDefaults withSelfInvocation(Class<?> type, SelfInvocation reaction) {
        Map<Class<?>, SelfInvocation> all = new LinkedHashMap<>(selfInvocations);
        all.put(type, reaction);
        Map<Class<?>, SelfInvocation> copy = Map.copyOf(all);
        return new LockedDefaults(maxWait, onTimeout, onLoss, inTransaction, atMost, selfInvocation, copy, opening);
    }

    /** When the clients of annotated methods are opened. */
    public LockedDefaults withClientOpening(ClientOpening when) {
        return new LockedDefaults(
                maxWait, onTimeout, onLoss, inTransaction, atMost, selfInvocation, selfInvocations, when);
    }

    /** For how long others are waited for. */
    public Duration maxWait() {
        return maxWait;
    }

    /** What happens when others kept the lock for all of the maximum wait. */
    public TimeoutReaction onTimeout() {
        return onTimeout;
    }

    /** What happens when the lock is lost while the method runs. */
    public LossReaction onLoss() {
        return onLoss;
    }

    /** What happens when the caller has begun a transaction. */
    public SurroundingTransaction surroundingTransaction() {
        return inTransaction;
    }

    /** For how long the lock of a {@link ScheduledLock} lasts at most; empty if each has to set it. */
    public Optional<Duration> atMost() {
        return Optional.ofNullable(atMost);
    }

    /** What happens when a class calls a locked method of its own. */
    public SelfInvocation selfInvocation() {
        return selfInvocation;
    }

    /** What happens when this class calls a locked method of its own: what is said of its nearest superclass. */
    public SelfInvocation selfInvocation(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            SelfInvocation reaction = selfInvocations.get(each);
            if (reaction != null) {
                return reaction;
            }
        }
        return selfInvocation;
    }

    /** When the clients of annotated methods are opened. */
    public ClientOpening clientOpening() {
        return opening;
    }

    @Override
    public String toString() {
        return "maxWait=" + maxWait + " onTimeout=" + onTimeout + " onLoss=" + onLoss + " surroundingTransaction="
                + inTransaction + " atMost=" + atMost + " selfInvocation=" + selfInvocation + " clientOpening="
                + opening;
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
