/** One store of several independent stores. */
module dev.holdfast.store.quorum {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires org.slf4j;

    exports dev.holdfast.store.quorum;

    uses dev.holdfast.spi.StoreProvider;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.store.quorum.QuorumStoreProvider;
}
