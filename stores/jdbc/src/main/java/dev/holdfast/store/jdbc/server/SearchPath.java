package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Each connection resolves a table name without a schema by its own settings, which a program may change and a pool
 * does not restore: two clients, or two connections of one client, would then use two sets of tables, and a lock would
 * have two owners. So a store resolves the schema once, when it opens, and names it in every statement. The connection
 * it asks may have been changed already, which shows by what it was opened with.
 */

/** Where table names without a schema lead on a connection, at present and when it was opened. */
public final class SearchPath {

    private static final Logger LOG = LoggerFactory.getLogger(SearchPath.class);

    private static final String NAME_IT = "name it: 'schema' in the URI, or JdbcStore.Builder.schema";

    private final Lookup present;
    private final Lookup initial;
    private final String user;

    /**
     * Where one setting leads.
     *
     * @param found the schemas that have tables of locks, in the order in which they are searched
     * @param first where a table would be made; empty if nowhere
     */
    public record Lookup(List<String> found, Optional<String> first) {

        private Optional<String> existing() {
            return found.stream().findFirst();
        }
    }

    /** Where no setting is changed after the connection is opened. */
    public SearchPath(Lookup only, String user) {
        this(only, only, user);
    }

    /**
     * Where a setting may have been changed.
     *
     * @param present by the connection's present settings
     * @param initial by those it was opened with; the same as {@code present} where that is unknown
     * @param user the database user, whose name a schema of its own has; empty where that means nothing
     */
    public SearchPath(Lookup present, Lookup initial, String user) {
        this.present = present;
        this.initial = initial;
        this.user = user;
    }

    /**
     * The schema of the tables: where they are, or else where they are to be made.
     *
     * @param mayCreate whether tables are made if there are none
     * @throws StoreException if it can't be known, or if tables would be made where other users would not find them
     */
    public String schema(boolean mayCreate) {
        Optional<String> schema = existing();
        if (schema.isPresent()) {
            return schema.get();
        }
        Optional<String> first = initial.first.isPresent() || mayCreate ? initial.first : present.first;
        if (mayCreate && !present.first.equals(first)) {
            throw ServerSchema.denied("there are no tables for locks yet, and where they belong is not known:"
                    + " the connection was opened with " + text(first) + ", and is set to " + text(present.first)
                    + " now; " + NAME_IT);
        }
        if (first.isEmpty()) {
            throw ServerSchema.denied(
                    "the connection has no schema or database to look for the tables of locks in; " + NAME_IT);
        }
        if (mayCreate && first.get().equals(user)) {
            throw ServerSchema.denied("there are no tables for locks yet, and without a schema they would be made in "
                    + text(first) + ", which has the name of the user: another user would not find them, and hold the"
                    + " same locks. If that is where they belong, " + NAME_IT);
        }
        return first.get();
    }

    private Optional<String> existing() {
        Optional<String> here = present.existing();
        Optional<String> before = initial.existing();
        if (here.isPresent() && before.isPresent() && !here.equals(before)) {
            throw ServerSchema.denied("there are tables for locks in two schemas: the connection was opened with "
                    + text(before) + ", and is set to " + text(here) + " now; " + NAME_IT);
        }
        Lookup lookup = before.isPresent() ? initial : present;
        if (!here.equals(before)) {
            LOG.warn(
                    "the schema of the tables for locks depends on a setting that was changed after the connection was"
                            + " opened; {} is used. To be sure of it, {}",
                    text(lookup.existing()),
                    NAME_IT);
        } else if (lookup.found.size() > 1) {
            LOG.warn(
                    "there are tables for locks in several schemas of the search path, {}; {} is used. Clients that"
                            + " use another one hold the same locks. To be sure of it, {}",
                    lookup.found,
                    text(lookup.existing()),
                    NAME_IT);
        }
        return lookup.existing();
    }

    private static String text(Optional<String> schema) {
        return schema.map(name -> "the schema '" + ResourceName.printable(name) + "'")
                .orElse("no schema");
    }
}
