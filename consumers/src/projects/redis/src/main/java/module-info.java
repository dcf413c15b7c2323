module com.example.redis {
    requires dev.holdfast.store.redis;
}
