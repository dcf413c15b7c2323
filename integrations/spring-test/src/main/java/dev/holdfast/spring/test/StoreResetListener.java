package dev.holdfast.spring.test;

import dev.holdfast.test.TestStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.test.annotation.DirtiesContext.HierarchyMode;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;
import org.springframework.test.context.support.DependencyInjectionTestExecutionListener;

/**
 * Resets the store of a test after each method, or closes the context if that fails, so that leftovers of a test don't
 * affect the next. Called by Spring.
 */
final class StoreResetListener extends AbstractTestExecutionListener {

    private static final Logger log = LoggerFactory.getLogger(StoreResetListener.class);

    /**
     * Between the listeners for dirty contexts (3000) and for transactions (4000). After a test they run in reverse
     * order: the transaction of the test has released its locks by then, and the context is still open.
     */
    @Override
    public int getOrder() {
        return 3500;
    }

    @Override
    public void afterTestMethod(TestContext test) {
        TestStores.find(test).ifPresent(store -> reset(store, test));
    }

    private static void reset(TestStore store, TestContext test) {
        try {
            store.reset();
        } catch (IllegalStateException e) {
            log.warn(
                    "test={}.{} did not clean up, so its application context is closed and the "
                            + "next test gets a new one. {}",
                    test.getTestClass().getSimpleName(),
                    test.getTestMethod().getName(),
                    e.getMessage());
            test.markApplicationContextDirty(HierarchyMode.EXHAUSTIVE);
            test.setAttribute(DependencyInjectionTestExecutionListener.REINJECT_DEPENDENCIES_ATTRIBUTE, true);
        }
    }
}
