module com.example.mariadb {
    requires dev.holdfast.store.sql;
    requires org.mariadb.jdbc;
}
