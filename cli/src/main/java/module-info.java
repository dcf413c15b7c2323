/** The {@code holdfast} command. */
module dev.holdfast.cli {
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;
    requires dev.holdfast;
    requires dev.holdfast.console;
    requires dev.holdfast.store.memory;
    requires dev.holdfast.store.quorum;
    requires dev.holdfast.store.sqlite;
    requires info.picocli;
    requires java.sql;
    requires jdk.httpserver;
    requires jdk.unsupported;
    requires org.slf4j;

    uses java.sql.Driver;
}
