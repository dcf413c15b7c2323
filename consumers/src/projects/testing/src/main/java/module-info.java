module com.example.testing {
    requires dev.holdfast.test;
    requires org.junit.jupiter.api;
    requires org.junit.platform.launcher;

    opens com.example.testing to
            org.junit.platform.commons;
}
