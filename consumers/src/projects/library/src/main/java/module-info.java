module com.example.library {
    requires transitive dev.holdfast;

    exports com.example.library;
}
