module com.example.metrics {
    requires dev.holdfast.micrometer;
}
