/** The reference store, in memory. */
module dev.holdfast.store.memory {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;

    exports dev.holdfast.store.memory;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.store.memory.MemoryStoreProvider;
}
