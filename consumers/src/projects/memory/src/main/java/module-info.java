module com.example.memory {
    requires dev.holdfast;
}
