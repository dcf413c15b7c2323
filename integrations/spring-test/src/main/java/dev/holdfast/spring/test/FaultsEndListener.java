package dev.holdfast.spring.test;

import dev.holdfast.test.TestStore;
import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/**
 * Ends the faults of a test's store after the test method, before all other listeners. Otherwise a lock kept until the
 * end of the test's transaction could not be released. Called by Spring.
 */
final class FaultsEndListener extends AbstractTestExecutionListener {

    /** Listeners run in the reverse order after a test. */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public void afterTestMethod(TestContext test) {
        TestStores.find(test).ifPresent(TestStore::recover);
    }
}
