module com.example.quorum {
    requires dev.holdfast.store.quorum;
}
