package dev.holdfast.testkit;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * Repeats a test whose preparation took longer than the leases that it was to finish before, with longer ones.
 *
 * <p>Where nobody can move the store's clock, what is short-lived begins to run out while the test still prepares what
 * is to happen at its end. A machine that gives the test no processor for that long makes it look at another situation
 * than it describes, so its failure says nothing. {@link Bench#wasTooSlow()} knows that from the clock alone; a test
 * that fails in time fails for good.
 */
final class LongerOnSlowMachines implements InvocationInterceptor {

    /** With leases of half a second the last attempt has 32 s. */
    private static final int REPETITIONS = 3;

    private static final int FACTOR = 4;

    @Override
    public void interceptTestMethod(
            Invocation<@Nullable Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        Harness harness = (Harness) context.getRequiredTestInstance();
        Throwable failure = failureOf(() -> {
            var unused = invocation.proceed();
        });
        for (int i = 0, factor = FACTOR; i < REPETITIONS && failure != null && harness.bench.wasTooSlow(); i++) {
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
        } catch (Throwable failure) { // whatever it is, the engine of the tests is to have it
            return failure;
        }
    }

    private static void invoke(Method method, Harness harness) throws Throwable {
        method.setAccessible(true);
        try {
            var unused = method.invoke(harness);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
