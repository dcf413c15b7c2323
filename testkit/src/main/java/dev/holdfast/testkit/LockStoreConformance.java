package dev.holdfast.testkit;

import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The rules that every store keeps, as tests: extend this class, say how a fresh store is opened, and run it with JUnit.
 *
 * <pre>{@code
 * class OurStoreTest extends LockStoreConformance {
 *     @Override
 *     protected StoreUnderTest open() {
 *         return new OurStoreUnderTest();   // two connections to an empty store
 *     }
 * }
 * }</pre>
 *
 * <p>The name of each test begins with the number of the guarantee that it looks at; they are listed and explained in {@code docs/guarantees.md}.
 * What a store's {@linkplain dev.holdfast.spi.StoreTraits traits} say that it can't do is skipped, with the reason.
 */
@TestMethodOrder(MethodOrderer.DisplayName.class)
public abstract class LockStoreConformance extends PartRules {

    /** For the stores' own tests. */
    protected LockStoreConformance() {}

    /**
     * Opens a store that is empty and that nobody else uses; called before each test, and closed after it.
     *
     * @throws Exception if there is none to be had; the test fails then
     */
    protected abstract StoreUnderTest open() throws Exception;

    @Override
    final StoreUnderTest openSubject() throws Exception {
        return open();
    }
}
