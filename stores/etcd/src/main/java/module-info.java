/** Locks on etcd. */
// What stands on Guava and others are modules by their names only.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module dev.holdfast.store.etcd {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires dev.holdfast.store.register;
    requires transitive io.grpc;
    requires io.grpc.netty;
    requires io.netty.common;
    requires io.netty.handler;
    // Nothing here uses these two, but gRPC does, which is no module and so can't say it.
    requires io.netty.codec.http2;
    requires io.netty.handler.proxy;
    requires io.netty.transport;
    requires org.slf4j;

    exports dev.holdfast.store.etcd;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.store.etcd.EtcdStoreProvider;
}
