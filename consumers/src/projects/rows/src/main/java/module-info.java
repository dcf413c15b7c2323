module com.example.rows {
    requires dev.holdfast.sql;
    requires org.xerial.sqlitejdbc;
}
