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
 * have two owners. So a store resolves the schema once, when it opens, and names it in every statement. The settings of
 * that connection may have been changed already, which a comparison with the initial ones shows.
 */

/** Where unqualified table names lead on a connection, now and when it was opened. */
public final class SearchPath {

    private static final Logger LOG = LoggerFactory.getLogger(SearchPath.class);

    private static final String NAME_IT = "set 'schema' in the URI, or call JdbcStore.Builder.schema";

    private final Lookup present;
    private final Lookup initial;
    private final String user;

    /**
     * Where one setting leads.
     *
     * @param found the schemas with tables of locks, in search order
     * @param first where a table would be created; empty if nowhere
     */
    public record Lookup(List<String> found, Optional<String> first) {

        private Optional<String> existing() {
            return found.stream().findFirst();
        }
    }

    /** For servers on which the setting does not change after the connection was opened. */
    public SearchPath(Lookup only, String user) {
        this(only, only, user);
    }

    /**
     * For servers on which the setting may have been changed.
     *
     * @param present by the connection's present settings
     * @param initial by its initial settings; the same as {@code present} if these are unknown
     * @param user the database user, after whom a schema may be named; empty if that has no meaning
     */
    public SearchPath(Lookup present, Lookup initial, String user) {
        this.present = present;
        this.initial = initial;
        this.user = user;
    }

    /**
     * The schema of the tables: where they are, or otherwise where they should be created.
     *
     * @param mayCreate whether missing tables are created
     * @throws StoreException if the schema is ambiguous, or if tables would be created where other users would not find
     *     them
     */
    public String schema(boolean mayCreate) {
        Optional<String> schema = existing();
        if (schema.isPresent()) {
            return schema.get();
        }
        Optional<String> first = initial.first.isPresent() || mayCreate ? initial.first : present.first;
        if (mayCreate && !present.first.equals(first)) {
            throw ServerSchema.denied(
                    "there are no lock tables yet, and it is unclear where to create them: the connection "
                            + "was opened with " + text(first) + ", but is now set to " + text(present.first) + "; "
                            + NAME_IT);
        }
        if (first.isEmpty()) {
            throw ServerSchema.denied(
                    "the connection has no current schema or database for the lock tables; " + NAME_IT);
        }
        if (mayCreate && first.get().equals(user)) {
            throw ServerSchema.denied(
                    "there are no lock tables yet, and by default they would be created in " + text(first)
                            + ", which is named after the user: other users would not find them there and could hold "
                            + "the same locks. If that is the right schema, " + NAME_IT);
        }
        return first.get();
    }

    private Optional<String> existing() {
        Optional<String> here = present.existing();
        Optional<String> before = initial.existing();
        if (here.isPresent() && before.isPresent() && !here.equals(before)) {
            throw ServerSchema.denied("there are lock tables in two schemas: the connection was opened with "
                    + text(before) + ", but is now set to " + text(here) + "; " + NAME_IT);
        }
        Lookup lookup = before.isPresent() ? initial : present;
        if (!here.equals(before)) {
            LOG.warn(
                    "the schema of the lock tables depends on a setting that was changed after the "
                            + "connection was opened; {} is used. To make it explicit, {}",
                    text(lookup.existing()),
                    NAME_IT);
        } else if (lookup.found.size() > 1) {
            LOG.warn(
                    "there are lock tables in several schemas of the search path, {}; {} is used. "
                            + "Clients that use another schema can hold the same locks. To make it explicit, "
                            + "{}",
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
