module com.example.shedlock {
    requires dev.holdfast.shedlock;
}
