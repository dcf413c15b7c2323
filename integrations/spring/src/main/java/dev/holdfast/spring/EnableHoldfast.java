package dev.holdfast.spring;

import dev.holdfast.spring.advice.HoldfastRegistrar;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;

/**
 * Makes {@link Locked} and {@link ScheduledLock} effective on the beans of this application context.
 *
 * <pre>
 * &#64;Configuration
 * &#64;EnableHoldfast
 * class LockConfiguration {
 *     &#64;Bean
 *     Holdfast holdfast(&#64;Value("${locks.store}") String store) {
 *         return Holdfast.connect(store);
 *     }
 * }
 * </pre>
 *
 * <p>The {@link dev.holdfast.Holdfast} bean of an annotated method is created when the application starts, even if it
 * is lazy, so that a failure stops the start. {@link LockedDefaults#withClientOpening} delays that until the first
 * call. An application that uses no lock needs no client, and this annotation alone sends nothing to a store. A bean of
 * the type {@link LockedDefaults} has the values that annotations don't set.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Import(HoldfastRegistrar.class)
@SuppressWarnings("exports") // The imported class is of no use to callers.
public @interface EnableHoldfast {

    /**
     * The default position of locks among other advice: outside transactions and caches, which have the lowest
     * precedence, and inside method security. Retries, {@code @Async} and {@code @ConcurrencyLimit} are always outside.
     */
    int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1000;

    /**
     * The position of locks among other advice: the smaller, the further outside. It must be smaller than the order of
     * the transactions' advice.
     */
    int order() default DEFAULT_ORDER;

    /** Whether beans with interfaces also get proxies of their class; applies to all beans of the context. */
    boolean proxyTargetClass() default false;
}
