package dev.holdfast.spring.test;

import dev.holdfast.test.TestStore;
import java.util.Optional;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextAnnotationUtils;

/** Finds the store of a test that has one. */
final class TestStores {

    private TestStores() {}

    /** The store of a test with {@link EmbeddedHoldfast} whose context is open. */
    static Optional<TestStore> find(TestContext test) {
        if (!TestContextAnnotationUtils.hasAnnotation(test.getTestClass(), EmbeddedHoldfast.class)
                || !test.hasApplicationContext()) {
            return Optional.empty();
        }
        ApplicationContext context;
        try {
            context = test.getApplicationContext();
        } catch (IllegalStateException e) {
            // The test has closed the context and its beans.
            return Optional.empty();
        }
        return Optional.ofNullable(context.getBeanProvider(TestStore.class).getIfAvailable());
    }
}
