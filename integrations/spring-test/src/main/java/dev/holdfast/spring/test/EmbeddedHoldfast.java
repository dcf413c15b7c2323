package dev.holdfast.spring.test;

import dev.holdfast.test.TestStore;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Annotation of a Spring test that replaces the lock store of the application by a {@link TestStore}: in memory, on
 * virtual time that only the test advances, with faults on demand. No server is needed for any configuration of the
 * application.
 *
 * <pre>
 * &#64;SpringBootTest
 * &#64;EmbeddedHoldfast
 * class TransfersTest {
 *     &#64;Test
 *     void refusesWhenTaken(&#64;Autowired Transfers transfers, TestStore store) { ... }
 * }
 * </pre>
 *
 * <p>It works on each test whose context is managed by Spring's TestContext framework, such as by {@code
 * @SpringBootTest} or {@code @SpringJUnitConfig}, and on the nested and inherited classes of such a test. In that
 *     context
 *
 * <ul>
 *   <li>there is a bean of the type {@link TestStore}; JUnit also passes it to test methods, and those before and after
 *       them, as a parameter of that type, and its client as one of type {@link dev.holdfast.Holdfast};
 *   <li>each {@code Holdfast} bean is a client of that store, by the name, the qualifiers and the rank that it has in
 *       the application; if there is none, one is added. On Spring Boot the client is set up as by auto-configuration:
 *       with the properties under {@code holdfast}, of which those about stores have no effect, and the beans that
 *       customize it. Elsewhere it has default settings and listens to all {@code HoldfastListener} beans;
 *   <li>each {@code LockStore} bean is a connection to that store.
 * </ul>
 *
 * <p>For other settings, a test defines the {@code TestStore} bean itself, as with {@link TestStore#create(
 * java.util.function.Consumer)}.
 *
 * <p><b>Isolation:</b> the context is cached and shared as usual, by classes with equal settings. After each test
 * method the store is {@linkplain TestStore#reset() reset}. If that fails, because the test has left a lock open or a
 * thread waiting, the context is closed, a warning has the reason, and the next test gets a new context. Tests that
 * share a context share its store, so they must not run at the same time.
 *
 * <p>Several annotations at one class, such as composed ones, must have the same settings.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(TestStoreParameters.class)
@SuppressWarnings("exports") // The extension is of no use to callers.
public @interface EmbeddedHoldfast {

    /**
     * The session ttl, such as {@code "30s"} or {@code "PT30S"}; if empty, that of the application, or 30 s.
     */
    String sessionTtl() default "";

    /**
     * The store time-out, such as {@code "10s"} or {@code "PT10S"}; if empty, that of the application, or 10 s.
     */
    String storeTimeout() default "";
}
