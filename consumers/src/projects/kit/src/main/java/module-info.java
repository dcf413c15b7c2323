module com.example.kit {
    requires dev.holdfast.testkit;
    requires org.junit.platform.launcher;

    opens com.example.kit to
            org.junit.platform.commons;
}
