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
 * <p>{@link EnableHoldfast} makes it effective. The lock is acquired before a transaction of the same method begins,
 * and released after it has committed. Each attempt of a {@code @Retryable} method acquires it separately: pauses
 * between retries don't hold it. The method is never run without the lock.
 *
 * <p>The annotation works for calls through the bean's proxy. Known cases without a proxy fail the start: methods that
 * are private, static or final, calls of a class to its own locked methods, and beans that were created before proxies
 * were available.
 *
 * <p>A method may return a value, a {@link java.util.concurrent.CompletionStage}, a Reactor {@code Mono} or another
 * reactive type of at most one value. For a stage or a reactive type, the lock is held until it completes, belongs to
 * no thread, and is not re-entrant; each subscription to a {@code Mono} acquires it again. Methods that return a {@code
 * Future}, a {@code Flux}, a {@code Stream} or an {@code Iterator} are refused, since their work continues after they
 * have returned.
 *
 * <p>All texts may contain placeholders, such as {@code ${orders.lock-wait}}. Durations are written as {@code 500ms},
 * {@code 10s}, {@code 1m30s} or {@code PT10S}; a number without a unit is refused. The annotation may be used on other
 * annotations, with {@link AliasFor} for the attributes that they set.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective(LockedReflectiveProcessor.class)
@SuppressWarnings("exports") // The processor is of no use to callers.
public @interface Locked {

    /** An alias of {@link #name()}. */
    @AliasFor("name")
    String value() default "";

    /**
     * The name of the lock, or the prefix of the {@link #key()}: {@code account} with the key 7 is {@code account/7}.
     * If neither is set, the lock has the name of the class and the signature of the method, and a warning is logged at
     * the start: the name changes with these, and processes with different names don't exclude each other.
     */
    @AliasFor("value")
    String name() default "";

    /**
     * An expression (SpEL) for the key, evaluated once for each call: {@code #order.id}, {@code {#from, #to}}.
     * Parameters are variables by their names, which needs {@code -parameters} at compile time, and as {@code #p0},
     * {@code #p1}; the root object has {@code target}, {@code methodName} and {@code args}. It may
     * read properties and call methods, but can't write, construct objects, or access types and beans.
     *
     * <p>A collection or an array locks all its elements, all or nothing. A key that is null, blank or empty, or whose
     * class does not override {@code toString}, fails the call with {@link IllegalArgumentException} before anything is
     * locked.
     */
    String key() default "";

    /** An expression like {@link #key()}; if it is false, the method runs without the lock. */
    String condition() default "";

    /** How the lock is shared. */
    LockMode mode() default LockMode.MUTEX;

    /** The permits to take, with {@link LockMode#PERMITS}. */
    int permits() default 1;

    /** The permits that there are, with {@link LockMode#PERMITS}: the same for all users of the name. */
    int capacity() default 0;

    /** The {@link #capacity()} as a text, for a placeholder. */
    String capacityString() default "";

    /** Whether a claim may pass queued ones, see {@link dev.holdfast.LockOptions#barging()}. */
    boolean barging() default false;

    /** The maximum wait for others; zero makes one attempt. That of {@link LockedDefaults} if not set. */
    String maxWait() default "";

    /**
     * The time after which the lock is lost even if its owner is alive, as a bound for a method that hangs. Without it,
     * the lock is renewed until the method ends. A nested call with a maximum, on a thread that has the lock, is
     * refused.
     */
    String maxHold() default "";

    /**
     * What the lock is for, for people who look at it: see {@link dev.holdfast.AcquireOptions#withMessage}. One line of
     * at most 256 bytes.
     */
    String message() default "";

    /**
     * The reaction when others kept the lock for all of {@link #maxWait()}; at most one. By default that of {@link
     * LockedDefaults}, unless there is a {@link #fallback()} or a {@link #failureHandler()}.
     */
    TimeoutReaction[] onTimeout() default {};

    /**
     * A method of the same class that is called instead when others kept the lock for all of {@link #maxWait()}. It has
     * the same parameters, and optionally a {@link dev.holdfast.LockWaitTimeoutException} after them.
     */
    String fallback() default "";

    /**
     * The name of a {@link LockFailureHandler} bean that decides the result when the lock could not be acquired,
     * because others have it or the store does not reply.
     */
    String failureHandler() default "";

    /** The reaction when the lock is lost during the method; at most one, by default that of {@link LockedDefaults}. */
    LossReaction[] onLoss() default {};

    /** The reaction to a transaction of the caller; at most one, by default that of {@link LockedDefaults}. */
    SurroundingTransaction[] surroundingTransaction() default {};

    /** The name of the {@link dev.holdfast.Holdfast} bean; by default the only or primary one. */
    String client() default "";
}
