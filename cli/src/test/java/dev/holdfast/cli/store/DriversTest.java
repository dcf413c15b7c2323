package dev.holdfast.cli.store;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Drivers run as part of the command, so no one else may be able to change them. */
class DriversTest {

    @TempDir
    Path directory;

    @BeforeEach
    void needPermissions() {
        assumeTrue(directory.getFileSystem().supportedFileAttributeViews().contains("unix"));
    }

    @Test
    void directoryThatOthersMayWriteIsRejected() throws IOException {
        allow(directory, "rwxr-xrwx");
        assertThatThrownBy(this::provide).hasMessageContaining("other users can change them: run chmod go-w");
        allow(directory, "rwxr-xr-x");
        assertThatThrownBy(this::provide).hasMessageContaining("there is no driver for 'mysql:'");
    }

    @Test
    void jarThatOthersMayWriteIsRejected() throws IOException {
        allow(Files.writeString(directory.resolve("driver.jar"), ""), "rw-r--rw-");
        allow(directory, "rwxr-xr-x");
        assertThatThrownBy(this::provide).hasMessageContaining("driver.jar").hasMessageContaining("other users");
    }

    private void provide() {
        Drivers.provide(StoreLocation.of("mysql://h/locks", Map.of()), Map.of(Drivers.VARIABLE, directory.toString()));
    }

    private static void allow(Path path, String permissions) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    }
}
