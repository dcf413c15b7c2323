module com.example.adapter {
    requires transitive dev.holdfast.store.register;

    exports com.example.adapter;
}
