package dev.holdfast.testkit;

import org.junit.jupiter.api.Nested;

/**
 * The rules that every store keeps, as tests: extend this class, say how a fresh store is opened, and run it with
 * JUnit.
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
 * <p>Each group of rules is a nested class and has its letter as a tag, so that it runs alone, too. The name of each
 * test begins with the number of the guarantee that it looks at; they are listed and explained in
 * {@code docs/guarantees.md}. What a store's {@linkplain dev.holdfast.spi.StoreTraits traits} say that it can't do is
 * skipped, with the reason.
 */
public abstract class LockStoreConformance {

    /** For the stores' own tests. */
    protected LockStoreConformance() {}

    /**
     * Opens a store that is empty and that nobody else uses; called before each test, and closed after it.
     *
     * @throws Exception if there is none to be had; the test fails then
     */
    protected abstract StoreUnderTest open() throws Exception;

    @Nested
    final class Sessions extends SessionRules {
        @Override
        StoreUnderTest openSubject() throws Exception {
            return open();
        }
    }

    @Nested
    final class Admission extends AdmissionRules {
        @Override
        StoreUnderTest openSubject() throws Exception {
            return open();
        }
    }

    @Nested
    final class Identity extends IdentityRules {
        @Override
        StoreUnderTest openSubject() throws Exception {
            return open();
        }
    }

    @Nested
    final class Tokens extends TokenRules {
        @Override
        StoreUnderTest openSubject() throws Exception {
            return open();
        }
    }

    @Nested
    final class Leases extends LeaseRules {
        @Override
        StoreUnderTest openSubject() throws Exception {
            return open();
        }
    }

    @Nested
    final class Waiting extends WaitingRules {
        @Override
        StoreUnderTest openSubject() throws Exception {
            return open();
        }
    }

    @Nested
    final class Releases extends ReleaseRules {
        @Override
        StoreUnderTest openSubject() throws Exception {
            return open();
        }
    }

    @Nested
    final class Views extends ViewRules {
        @Override
        StoreUnderTest openSubject() throws Exception {
            return open();
        }
    }

    @Nested
    final class Latches extends LatchRules {
        @Override
        StoreUnderTest openSubject() throws Exception {
            return open();
        }
    }

    @Nested
    final class Inputs extends InputRules {
        @Override
        StoreUnderTest openSubject() throws Exception {
            return open();
        }
    }

    @Nested
    final class Concurrency extends ConcurrencyRules {
        @Override
        StoreUnderTest openSubject() throws Exception {
            return open();
        }
    }

    @Nested
    final class Model extends ModelRules {
        @Override
        StoreUnderTest openSubject() throws Exception {
            return open();
        }
    }

    @Nested
    final class Partitions extends PartitionRules {
        @Override
        StoreUnderTest openSubject() throws Exception {
            return open();
        }
    }
}
