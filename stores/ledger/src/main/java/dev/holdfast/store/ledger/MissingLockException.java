package dev.holdfast.store.ledger;

import dev.holdfast.spi.ResourceName;
import java.util.List;

/**
 * A command needs resources that its transaction has not locked. The transaction is rolled back and retried with these
 * locked too.
 */
public final class MissingLockException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient List<ResourceName> names;

    // No stack trace: this is not a failure.
    public MissingLockException(List<ResourceName> names) {
        super("there is more to lock", null, false, false);
        this.names = names;
    }

    public List<ResourceName> names() {
        return names;
    }
}
