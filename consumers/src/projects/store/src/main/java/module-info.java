module com.example.store {
    requires transitive dev.holdfast;
    requires dev.holdfast.store.memory;

    exports com.example.store;
}
