module com.example.mariadb {
    requires dev.holdfast.store.jdbc;
    requires org.mariadb.jdbc;
}
