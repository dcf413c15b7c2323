package dev.holdfast.testkit;

import org.junit.jupiter.api.Nested;

/**
 * The rules for every store, as tests: extend this class, open a fresh store, and run it with JUnit.
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
 * <p>Each group of rules is a nested class and has its letter as a tag, so that it can run alone. The name of each
 * test begins with the number of its guarantee; {@code docs/guarantees.md} lists and explains them. Rules that a
 * store's {@linkplain dev.holdfast.spi.StoreTraits traits} exclude are skipped, with the reason.
 */
public abstract class LockStoreConformance {

    /** For the stores' own tests. */
    protected LockStoreConformance() {}

    /**
     * Opens an empty store that nothing else uses; called before each test, and closed after it.
     *
     * @throws Exception if it can't be opened; the test fails then
     */
    protected abstract StoreUnderTest open() throws Exception;

    @Nested
    final class Sessions extends SessionRules {}

    @Nested
    final class Admission extends AdmissionRules {}

    @Nested
    final class Identity extends IdentityRules {}

    @Nested
    final class Tokens extends TokenRules {}

    @Nested
    final class Leases extends LeaseRules {}

    @Nested
    final class Waiting extends WaitingRules {}

    @Nested
    final class Releases extends ReleaseRules {}

    @Nested
    final class Views extends ViewRules {}

    @Nested
    final class Annotations extends AnnotationRules {}

    @Nested
    final class Latches extends LatchRules {}

    @Nested
    final class Inputs extends InputRules {}

    @Nested
    final class Concurrency extends ConcurrencyRules {}

    @Nested
    final class Model extends ModelRules {}

    @Nested
    final class Partitions extends PartitionRules {}
}
