package dev.holdfast.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Lets one process run a scheduled method, while the others skip it.
 *
 * <pre>
 * &#64;Scheduled(cron = "0 0 3 * * *")
 * &#64;ScheduledLock(name = "nightly-report", atMost = "1h", atLeast = "5m")
 * void report() { ... }
 * </pre>
 *
 * <p>It keeps the promises of {@link dev.holdfast.task.ScheduledTaskLock}. No one waits: a call while another process
 * runs the method, or less than {@link #atLeast()} after that began, returns without running it. After {@link
 * #atMost()} others may run it, even if the process that ran it is stuck or dead. Shortly before, the method is
 * interrupted and ends with {@link dev.holdfast.LockLostException}. A skipped method returns an empty value, as with
 * {@link TimeoutReaction#SKIP}. If the store does not answer, the method is not run and throws {@link
 * dev.holdfast.StoreUnavailableException}, for the error handler of the scheduler.
 *
 * <p>For proxies, return types, texts, durations and composed annotations, see {@link Locked}. {@link CurrentLocks} has
 * the fencing token.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface ScheduledLock {

    /** An alias of {@link #name()}. */
    @AliasFor("name")
    String value() default "";

    /** The name of the job: unique, and the same in every process. */
    @AliasFor("value")
    String name() default "";

    /**
     * The longest time of the lock: longer than the longest run that you expect. That of {@link LockedDefaults} if not
     * set; one of them must be set.
     */
    String atMost() default "";

    /**
     * The least time of the lock from the start of the method, even if the method ends earlier: longer than the
     * difference of the machines' clocks. None if not set.
     */
    String atLeast() default "";

    /** The name of the {@link dev.holdfast.Holdfast} bean; by default the only or primary one. */
    String client() default "";
}
