package dev.holdfast.store.ledger;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.store.ledger.table.ResourceRow;
import dev.holdfast.store.ledger.table.Rows;
import dev.holdfast.store.ledger.table.WriteBatch;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The resources that a command uses: each is read once, and written once if it has changed.
 *
 * <p>Not thread-safe.
 */
public final class ResourceCache {

    private final LedgerTransaction transaction;
    private final Rows rows;
    private final boolean isAlone;
    private final WriteBatch writes;
    private final Map<ResourceName, ResourceRow> met = new HashMap<>();

    ResourceCache(LedgerTransaction transaction, Rows rows, boolean isAlone, WriteBatch writes) {
        this.transaction = transaction;
        this.rows = rows;
        this.isAlone = isAlone;
        this.writes = writes;
    }

    /** Forgets all resources, even changed ones, for a new transaction. */
    void forgetAll() {
        met.clear();
    }

    /** A resource as recorded, including its dead claims; a new one without a row if it was never used. */
    public ResourceRow load(ResourceName name) throws SQLException {
        ResourceRow known = met.get(name);
        if (known != null) {
            return known;
        }
        if (!isAlone) {
            throw new MissingLockException(List.of(name));
        }
        ResourceRow resource = rows.resource(name);
        if (resource == null) {
            resource = new ResourceRow(name, name.utf8());
            resource.lastToken = rows.floor();
        }
        met.put(name, resource);
        return resource;
    }

    /** The declaration of a resource that the last transaction used, if it has waiters. */
    public Optional<ResourceSpec> awaited(ResourceName name) {
        ResourceRow known = met.get(name);
        return known != null && known.waiters > 0 ? Optional.of(known.declared) : Optional.empty();
    }

    /** A resource that is locked, or that has no row. */
    public void put(ResourceRow resource) {
        met.put(resource.name, resource);
    }

    /**
     * Where transactions must lock resources: checks that all of these are locked.
     *
     * @throws MissingLockException if some are not
     */
    void require(Collection<ResourceName> names) {
        List<ResourceName> missing = isAlone
                ? List.of()
                : names.stream().filter(name -> !met.containsKey(name)).toList();
        if (!missing.isEmpty()) {
            throw new MissingLockException(missing);
        }
    }

    /**
     * Ends a command. With the database to itself, it writes the changes, and the next command reads again; otherwise
     * locked resources are written when all commands have ended.
     */
    void endStep() throws SQLException {
        if (isAlone) {
            save();
            met.clear();
            return;
        }
        for (ResourceRow resource : met.values()) {
            resource.isSwept = false;
            resource.isSettled = false;
        }
    }

    /** Writes the changes, or adds them to the batch at the end of the transaction. */
    void save() throws SQLException {
        for (ResourceRow resource : met.values()) {
            if (resource.isDirty) {
                transaction.mustWrite();
                if (resource.isStored && !isAlone) {
                    Rows.save(resource, writes);
                } else {
                    rows.save(resource);
                }
            }
        }
    }

    /** Drops the row of a resource that is not in use. */
    void drop(ResourceRow resource) throws SQLException {
        transaction.mustWrite();
        rows.drop(resource);
        met.remove(resource.name);
    }
}
