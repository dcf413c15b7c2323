/** Row locks, optimistic versions and fences in the transactions of a program. */
// The module that it is exported to is built later.
@SuppressWarnings("module")
module dev.holdfast.sql {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires transitive java.sql;
    requires org.slf4j;
    requires static org.xerial.sqlitejdbc;

    exports dev.holdfast.sql.database to
            dev.holdfast.store.jdbc;
    exports dev.holdfast.sql.rows;
}
