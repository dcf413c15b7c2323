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
 * <p>The {@link dev.holdfast.Holdfast} bean of an annotated method is made when the application starts, even if it is
 * lazy, so that the start fails if it can't be. {@link LockedDefaults#withClientOpening} delays that to the first call.
 * An application that uses no lock neither needs a client nor sends anything to a store because of this annotation. A
 * bean of the type {@link LockedDefaults} sets what annotations leave open.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Import(HoldfastRegistrar.class)
@SuppressWarnings("exports") // Of no use to others.
public @interface EnableHoldfast {

    /**
     * Where locks stand among other advice: outside of transactions and caches, which have the lowest precedence, and
     * inside of method security. Retries, {@code @Async} and {@code @ConcurrencyLimit} are always outside of it.
     */
    int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1000;

    /**
     * Where locks stand among other advice: the smaller, the further outside. If the advice of transactions has an
     * order of its own, this must be smaller.
     */
    int order() default DEFAULT_ORDER;

    /** Whether beans with interfaces get proxies of their class, too; for all beans of the context. */
    boolean proxyTargetClass() default false;
}
