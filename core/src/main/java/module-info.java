/** Locks that hold across processes and machines: the API, the SPI for stores, and the engine between them. */
module dev.holdfast {
    requires static transitive org.jspecify;
    requires static transitive com.google.errorprone.annotations;
    requires jdk.jfr;
    requires org.slf4j;

    exports dev.holdfast;
    exports dev.holdfast.admin;
    exports dev.holdfast.election;
    exports dev.holdfast.task;
    exports dev.holdfast.spi;
    exports dev.holdfast.spi.support;

    uses dev.holdfast.spi.StoreProvider;
}
