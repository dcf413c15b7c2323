module com.example.etcd {
    requires dev.holdfast.store.etcd;
}
