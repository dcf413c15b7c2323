package dev.holdfast.store.sql;

import dev.holdfast.spi.ResourceName;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/**
 * The resources that a command has met: each is read once, and written once if it was changed.
 *
 * <p>Not thread-safe.
 */
final class Resources {

    private final Transaction transaction;
    private final Rows rows;
    private final Map<ResourceName, Resource> met = new HashMap<>();

    Resources(Transaction transaction, Rows rows) {
        this.transaction = transaction;
        this.rows = rows;
    }

    /** For a new transaction, whatever was changed. */
    void forgetAll() {
        met.clear();
    }

    /** A resource as it is recorded, its dead included: one without a row if nobody ever used it. */
    Resource load(ResourceName name) throws SQLException {
        Resource known = met.get(name);
        if (known != null) {
            return known;
        }
        Resource resource = rows.resource(name);
        if (resource == null) {
            resource = new Resource(name, name.utf8());
            resource.lastToken = rows.floor();
        }
        met.put(name, resource);
        return resource;
    }

    /** Writes what was changed. What comes next reads anew. */
    void save() throws SQLException {
        for (Resource resource : met.values()) {
            if (resource.isDirty) {
                transaction.mustWrite();
                rows.save(resource);
            }
        }
        met.clear();
    }

    /** Drops the row of a resource that nobody uses. */
    void drop(Resource resource) throws SQLException {
        transaction.mustWrite();
        rows.drop(resource);
        met.remove(resource.name);
    }
}
