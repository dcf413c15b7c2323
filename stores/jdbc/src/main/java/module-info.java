/** Locks on PostgreSQL, MySQL and MariaDB. */
// The driver is a module by its name only.
@SuppressWarnings("requires-automatic")
module dev.holdfast.store.jdbc {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires dev.holdfast.sql;
    requires dev.holdfast.store.ledger;
    requires transitive java.sql;
    requires static org.postgresql.jdbc;
    requires org.slf4j;

    exports dev.holdfast.store.jdbc;
    exports dev.holdfast.store.jdbc.postgres to
            org.postgresql.jdbc;

    uses java.sql.Driver;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.store.jdbc.JdbcStoreProvider;
}
