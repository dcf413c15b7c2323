package dev.holdfast.spring;

import dev.holdfast.spring.advice.LockedReflectiveProcessor;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method of a Spring bean under a lock that holds across processes.
 *
 * <pre>
 * &#64;Locked(name = "account", key = "#transfer.from", maxWait = "5s")
 * &#64;Transactional
 * public void withdraw(Transfer transfer) {
 *     ledger.append(transfer, CurrentLocks.fencingToken());
 * }
 * </pre>
 *
 * <p>{@link EnableHoldfast} makes it effective. The lock is acquired before a transaction of the same method begins and
 * released after it has committed, and it is held for each attempt of a {@code @Retryable} method by itself: retries
 * wait without it. If it can't be had, the method is never run without it.
 *
 * <p>The annotation works where a call goes through the bean's proxy. What can be known not to do that fails the start:
 * methods that are private, static or final, calls of a class to its own locked methods, beans that were made before
 * there were proxies.
 *
 * <p>A method may return a value, a {@link java.util.concurrent.CompletionStage}, a Reactor {@code Mono} or another
 * reactive type of at most one value. The lock of the latter ones is held until they complete, belongs to no thread,
 * and is not re-entrant; that of a {@code Mono} is acquired anew by each subscription. Methods that return a
 * {@code Future}, a {@code Flux}, a {@code Stream} or an {@code Iterator} are refused, for they go on after they have
 * returned.
 *
 * <p>All texts may contain placeholders, as {@code ${orders.lock-wait}}. Durations are written as {@code 500ms}, {@code
 * 10s}, {@code 1m30s} or {@code PT10S}; a number without a unit is refused. It may be used on other annotations, with
 * {@link AliasFor} for the attributes that they set.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective(LockedReflectiveProcessor.class)
@SuppressWarnings("exports") // Of no use to others.
public @interface Locked {

    /** As {@link #name()}. */
    @AliasFor("name")
    String value() default "";

    /**
     * The name of the lock, or what stands before the {@link #key()}: {@code account} with the key 7 is {@code
     * account/7}. If neither is set, the lock has the name of the class and the signature of the method: it changes
     * when these do, and a process with the old name and one with the new one don't exclude each other, of which the
     * start warns.
     */
    @AliasFor("value")
    String name() default "";

    /**
     * An expression (SpEL) for what is locked, evaluated once for each call: {@code #order.id}, {@code {#from, #to}}.
     * Parameters are variables by their names, which needs {@code -parameters} at compile time, and as {@code #p0},
     * {@code #p1}; the root object has {@code target}, {@code methodName} and {@code args}. It may
     * read properties and call methods, but neither write, nor construct, nor reach types and beans.
     *
     * <p>A collection or an array locks all its elements, all or nothing. A key that is null, blank or empty, and one
     * whose class has no text of its own, fails the call with {@link IllegalArgumentException} before anything is
     * locked.
     */
    String key() default "";

    /** An expression as for {@link #key()}; where it is false, the method runs without the lock. */
    String condition() default "";

    /** How the lock is shared. */
    LockMode mode() default LockMode.MUTEX;

    /** How many permits, with {@link LockMode#PERMITS}. */
    int permits() default 1;

    /** How many permits there are, with {@link LockMode#PERMITS}: everyone who uses the name says the same. */
    int capacity() default 0;

    /** As {@link #capacity()}, for a placeholder. */
    String capacityString() default "";

    /** Whether a claim may be granted past those that wait, see {@link dev.holdfast.LockOptions#barging()}. */
    boolean barging() default false;

    /** For how long others are waited for; zero makes one attempt. That of {@link LockedDefaults} if not set. */
    String maxWait() default "";

    /**
     * After which time the lock is lost though its owner is alive, as a bound for a method that hangs. Without it, the
     * lock is renewed until the method ends. A nested call that asks for it while its thread has the lock is refused.
     */
    String maxHold() default "";

    /**
     * What happens when others kept the lock for all of {@link #maxWait()}: one at most. Without it, that of {@link
     * LockedDefaults}, unless there is a {@link #fallback()} or a {@link #failureHandler()}.
     */
    TimeoutReaction[] onTimeout() default {};

    /**
     * A method of the same class that is called instead when others kept the lock for all of {@link #maxWait()}. It has
     * the same parameters, if wanted with a {@link dev.holdfast.LockWaitTimeoutException} after them.
     */
    String fallback() default "";

    /**
     * The name of a {@link LockFailureHandler} bean that decides when the lock could not be acquired: because others
     * have it, or the store does not answer.
     */
    String failureHandler() default "";

    /** What happens when the lock is lost during the method: one at most, that of {@link LockedDefaults} if none. */
    LossReaction[] onLoss() default {};

    /** What happens when the caller has begun a transaction: one at most, that of {@link LockedDefaults} if none. */
    SurroundingTransaction[] surroundingTransaction() default {};

    /** The name of the {@link dev.holdfast.Holdfast} bean; without it there is one, or one is primary. */
    String client() default "";
}
