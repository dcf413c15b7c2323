package dev.holdfast.test;

import dev.holdfast.Holdfast;
import java.lang.reflect.Constructor;
import java.util.function.Consumer;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * An extension of JUnit 5 and 6 that gives each test its own {@link TestStore}, as a parameter of that type, and the
 * store's client as a parameter of type {@link Holdfast}.
 *
 * <pre>{@code
 * @ExtendWith(HoldfastExtension.class)
 * class ReportJobTest {
 *     @Test
 *     void skipsWhenTaken(Holdfast holdfast, TestStore store) { ... }
 * }
 * }</pre>
 *
 * <p>A test and its {@code @BeforeEach} and {@code @AfterEach} methods share one store. It is created for the first
 * parameter, and closed after the test. Tests that run in parallel have separate stores.
 *
 * <p><b>Thread-safety:</b> may be registered for any number of tests at a time.
 */
public final class HoldfastExtension implements ParameterResolver, AfterEachCallback {

    private static final Namespace NAMESPACE = Namespace.create(HoldfastExtension.class);

    private final Consumer<? super Holdfast.Builder> settings;

    /** For {@code @ExtendWith}: clients have the default settings. */
    public HoldfastExtension() {
        this(builder -> {});
    }

    private HoldfastExtension(Consumer<? super Holdfast.Builder> settings) {
        this.settings = settings;
    }

    /**
     * For {@code @RegisterExtension}.
     *
     * @param settings sets each client up: its ttl, its time-outs, its listeners
     */
    public static HoldfastExtension with(Consumer<? super Holdfast.Builder> settings) {
        return new HoldfastExtension(settings);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == TestStore.class || type == Holdfast.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        if (context.getTestMethod().isEmpty() || parameter.getDeclaringExecutable() instanceof Constructor) {
            throw new ParameterResolutionException("A store belongs to one test, so "
                    + parameter.getDeclaringExecutable()
                    + " can't have a " + parameter.getParameter().getType().getSimpleName()
                    + " parameter: declare it on a @BeforeEach method or on the test");
        }
        TestStore store = context.getStore(NAMESPACE)
                .getOrComputeIfAbsent(TestStore.class, unused -> TestStore.create(settings), TestStore.class);
        return parameter.getParameter().getType() == TestStore.class ? store : store.client();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        TestStore store = context.getStore(NAMESPACE).remove(TestStore.class, TestStore.class);
        if (store != null) {
            store.close();
        }
    }
}
