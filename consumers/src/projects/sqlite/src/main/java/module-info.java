module com.example.sqlite {
    requires dev.holdfast.store.sql;
}
