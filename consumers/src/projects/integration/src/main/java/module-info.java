module com.example.integration {
    requires dev.holdfast.spring.integration;
}
