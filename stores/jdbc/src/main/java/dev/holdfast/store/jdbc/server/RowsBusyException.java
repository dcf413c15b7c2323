package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.Stages;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Another transaction keeps needed rows locked; nothing was done. */
public final class RowsBusyException extends Exception {

    private static final long serialVersionUID = 1L;

    private final transient Set<ResourceName> names;

    /** @param names the resources whose rows are locked; empty if they are other rows */
    public RowsBusyException(Set<ResourceName> names, @Nullable Throwable cause) {
        super("rows are locked by other transactions", cause);
        this.names = Set.copyOf(names);
    }

    public Set<ResourceName> names() {
        return names;
    }

    /** Whether a command failed for this reason, so that it had no effect and can wait. */
    public static boolean areCauseOf(Throwable failure) {
        Throwable cause = Stages.causeOf(failure);
        return cause instanceof StoreException && cause.getCause() instanceof RowsBusyException;
    }

    /** The failure of a command that needs these rows. */
    public StoreException failure() {
        return new StoreException(
                Reason.UNAVAILABLE,
                Effect.NONE,
                (names.isEmpty()
                                ? "rows of locks"
                                : "the row of '" + names.iterator().next() + "'")
                        + " in the database can't be locked: a transaction that Holdfast did "
                        + "not begin keeps it locked; look for a transaction that was left "
                        + "open",
                this);
    }
}
