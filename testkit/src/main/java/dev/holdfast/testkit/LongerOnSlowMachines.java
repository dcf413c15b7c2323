package dev.holdfast.testkit;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * Repeats a test whose preparation outlasted its short leases, with longer ones.
 *
 * <p>Where the store's clock can't be moved, short leases run while the test still prepares what follows their end. On
 * a slow machine they can expire too early. The test then meets a situation that it does not describe, and its failure
 * means nothing. {@link ConformanceFixture#wasTooSlow()} detects that by the clock alone. Any other failure counts.
 */
final class LongerOnSlowMachines implements BeforeEachCallback, InvocationInterceptor {

    /** With leases of half a second the last attempt has 32 s. */
    private static final int REPETITIONS = 3;

    private static final int FACTOR = 4;

    /** The rules of a {@link LockStoreConformance} use the stores that it opens. */
    @Override
    public void beforeEach(ExtensionContext context) {
        var instances = context.getRequiredTestInstances();
        ConformanceRules rules = instances.findInstance(ConformanceRules.class).orElseThrow();
        instances.findInstance(LockStoreConformance.class).ifPresent(conformance -> rules.subjects = conformance::open);
    }

    @Override
    public void interceptTestMethod(
            Invocation<@Nullable Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        ConformanceRules harness = (ConformanceRules) context.getRequiredTestInstance();
        Throwable failure = failureOf(() -> {
            var unused = invocation.proceed();
        });
        for (int i = 0, factor = FACTOR; i < REPETITIONS && failure != null && harness.fixture.wasTooSlow(); i++) {
            context.publishReportEntry("repeated with leases longer by a factor of", String.valueOf(factor));
            harness.reopenStore(factor);
            failure = failureOf(() -> invoke(method.getExecutable(), harness));
            factor *= FACTOR;
        }
        if (failure != null) {
            throw failure;
        }
    }

    private interface Body {
        void run() throws Throwable;
    }

    private static @Nullable Throwable failureOf(Body body) {
        try {
            body.run();
            return null;
        } catch (Throwable failure) { // JUnit must receive every throwable
            return failure;
        }
    }

    private static void invoke(Method method, ConformanceRules harness) throws Throwable {
        method.setAccessible(true);
        try {
            var unused = method.invoke(harness);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
