module com.example.postgresql {
    requires dev.holdfast;
}
