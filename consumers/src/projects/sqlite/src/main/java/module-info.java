module com.example.sqlite {
    requires dev.holdfast.store.sqlite;
}
