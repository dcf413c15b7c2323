package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalBinariesTest {

    private static final String PROPERTY = "holdfast.test.server";

    @TempDir
    Path directory;

    @AfterEach
    void forget() {
        System.clearProperty(PROPERTY);
    }

    @Test
    void areWhereAPropertySays() throws IOException {
        assertThat(LocalBinaries.at(PROPERTY, "HOLDFAST_TEST_SERVER")).isEmpty();
        Path program = Files.writeString(directory.resolve("server"), "1");
        System.setProperty(PROPERTY, program.toString());
        assertThat(LocalBinaries.at(PROPERTY, "HOLDFAST_TEST_SERVER")).contains(program);
    }

    @Test
    void oneThatIsNotThereIsNotReplacedByAnother() {
        System.setProperty(PROPERTY, directory.resolve("none").toString());
        assertThatThrownBy(() -> LocalBinaries.at(PROPERTY, "HOLDFAST_TEST_SERVER"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(directory.resolve("none").toString())
                .hasMessageContaining("HOLDFAST_TEST_SERVER");
    }

    @Test
    void anotherVersionAtTheSamePlaceIsAnotherOne() throws IOException {
        Path program = Files.writeString(directory.resolve("server"), "1");
        String first = LocalBinaries.identity(program);
        assertThat(LocalBinaries.identity(program)).isEqualTo(first);
        Files.setLastModifiedTime(program, FileTime.fromMillis(1));
        assertThat(LocalBinaries.identity(program)).isNotEqualTo(first);
    }
}
