package dev.holdfast.verification.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;

/** The packages of what stands on SQL databases, from the bottom up, and which of the others each may use. */
enum SqlPackage {
    DATABASE("dev.holdfast.sql.database"),
    ROWS("dev.holdfast.sql.rows", DATABASE),
    TABLE("dev.holdfast.store.ledger.table"),
    RUNTIME("dev.holdfast.store.ledger.runtime"),
    LEDGER("dev.holdfast.store.ledger", TABLE),
    PROCESS("dev.holdfast.store.sqlite.process"),
    SQLITE("dev.holdfast.store.sqlite", TABLE, RUNTIME, LEDGER, PROCESS),
    SERVER("dev.holdfast.store.jdbc.server", DATABASE, TABLE, RUNTIME, LEDGER),
    POSTGRES("dev.holdfast.store.jdbc.postgres", DATABASE, TABLE, RUNTIME, LEDGER, SERVER),
    MYSQL("dev.holdfast.store.jdbc.mysql", DATABASE, TABLE, RUNTIME, LEDGER, SERVER),
    JDBC("dev.holdfast.store.jdbc", DATABASE, TABLE, RUNTIME, LEDGER, SERVER, POSTGRES, MYSQL);

    private final String root;
    private final Set<SqlPackage> below;

    SqlPackage(String root, SqlPackage... below) {
        this.root = root;
        this.below = Set.of(below);
    }

    /** The package of a class, by the longest root that it is in; empty for all other code. */
    static Optional<SqlPackage> of(JavaClass type) {
        String name = type.getPackageName() + ".";
        return Arrays.stream(values())
                .filter(one -> name.startsWith(one.root + "."))
                .max(Comparator.comparingInt(one -> one.root.length()));
    }

    boolean mayUse(SqlPackage other) {
        return this == other || below.contains(other);
    }
}
