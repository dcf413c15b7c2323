package dev.holdfast.spring;

import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.task.TaskOptions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The values that annotations don't set. A bean of this type replaces the {@linkplain #standard() standard} ones.
 * Immutable; each {@code with} method returns a changed copy.
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
     * A maximum wait of ten seconds, and an exception after it; an interrupt at a loss; locks are kept until a
     * transaction of the caller has completed; self-invocation fails the start; the clients of annotated methods are
     * opened when the application starts.
     */
    public static LockedDefaults standard() {
        return STANDARD;
    }

    /**
     * Sets the maximum wait for others.
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

    /** Sets the reaction of methods without a fallback or handler when others kept the lock for all of the wait. */
    public LockedDefaults withOnTimeout(TimeoutReaction reaction) {
        return new LockedDefaults(
                maxWait, reaction, onLoss, inTransaction, atMost, selfInvocation, selfInvocations, opening);
    }

    /** Sets the reaction when the lock is lost while the method runs. */
    public LockedDefaults withOnLoss(LossReaction reaction) {
        return new LockedDefaults(
                maxWait, onTimeout, reaction, inTransaction, atMost, selfInvocation, selfInvocations, opening);
    }

    /** Sets the reaction when the caller has begun a transaction. */
    public LockedDefaults withSurroundingTransaction(SurroundingTransaction reaction) {
        return new LockedDefaults(
                maxWait, onTimeout, onLoss, reaction, atMost, selfInvocation, selfInvocations, opening);
    }

    /**
     * Sets the longest time of the lock of a {@link ScheduledLock}: longer than the longest run of any job.
     *
     * @throws IllegalArgumentException if it is out of range, as in {@link TaskOptions#atMost(Duration)}
     */
    public LockedDefaults withAtMost(Duration most) {
        TaskOptions unused = TaskOptions.atMost(most);
        return new LockedDefaults(
                maxWait, onTimeout, onLoss, inTransaction, most, selfInvocation, selfInvocations, opening);
    }

    /** Sets the reaction when a class calls its own locked method, which bypasses the proxy and acquires no lock. */
    public LockedDefaults withSelfInvocation(SelfInvocation reaction) {
        return new LockedDefaults(
                maxWait, onTimeout, onLoss, inTransaction, atMost, reaction, selfInvocations, opening);
    }

    /** The same as {@link #withSelfInvocation(SelfInvocation)}, for one class and its subclasses. */
    public LockedDefaults withSelfInvocation(Class<?> type, SelfInvocation reaction) {
        Map<Class<?>, SelfInvocation> all = new LinkedHashMap<>(selfInvocations);
        all.put(type, reaction);
        Map<Class<?>, SelfInvocation> copy = Map.copyOf(all);
        return new LockedDefaults(maxWait, onTimeout, onLoss, inTransaction, atMost, selfInvocation, copy, opening);
    }

    /** Sets when the clients of annotated methods are opened. */
    public LockedDefaults withClientOpening(ClientOpening when) {
        return new LockedDefaults(
                maxWait, onTimeout, onLoss, inTransaction, atMost, selfInvocation, selfInvocations, when);
    }

    /** The maximum wait for others. */
    public Duration maxWait() {
        return maxWait;
    }

    /** The reaction when others kept the lock for all of the maximum wait. */
    public TimeoutReaction onTimeout() {
        return onTimeout;
    }

    /** The reaction when the lock is lost while the method runs. */
    public LossReaction onLoss() {
        return onLoss;
    }

    /** The reaction when the caller has begun a transaction. */
    public SurroundingTransaction surroundingTransaction() {
        return inTransaction;
    }

    /** The longest time of the lock of a {@link ScheduledLock}; empty if each must set it. */
    public Optional<Duration> atMost() {
        return Optional.ofNullable(atMost);
    }

    /** The reaction when a class calls its own locked method. */
    public SelfInvocation selfInvocation() {
        return selfInvocation;
    }

    /** The reaction for a class: that set for it or its nearest superclass, otherwise the general one. */
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

    /** When a lazy {@link dev.holdfast.Holdfast} bean is created for the methods that need it. */
    public enum ClientOpening {
        /** When the application starts; a failure stops the start. */
        AT_START,
        /** When a method is first called that needs it; a failure is thrown to the caller. */
        ON_FIRST_USE
    }

    /** The reaction when a class is found to call its own locked method. */
    public enum SelfInvocation {
        /** The bean is not created, and the start fails. */
        REFUSE,
        /** A warning is logged. */
        WARN,
        /** No reaction; the code of classes is not checked. */
        ALLOW
    }
}
