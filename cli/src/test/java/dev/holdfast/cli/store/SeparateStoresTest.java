package dev.holdfast.cli.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess;
import dev.holdfast.cli.CliProcess.Place;
import dev.holdfast.cli.Installation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stores that have files of their own, where these are missing or damaged. */
@Tag("process")
class SeparateStoresTest {

    @TempDir
    Path directory;

    private Installation installation = Installation.with();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "etcd://u:canary@127.0.0.1:1",
                "etcds://u:canary@127.0.0.1:1",
                "zookeeper://u:canary@127.0.0.1:1",
                "zookeepers://u:canary@127.0.0.1:1",
                "quorum:(redis://127.0.0.1:1,redis://127.0.0.1:2, zookeeper://u:canary@127.0.0.1:1)",
            })
    void missingFilesAreNamed(String uri) {
        String store = uri.contains("zookeeper") ? "zookeeper" : "etcd";
        refused(uri, "its files, which holdfast.jar does not contain, are missing", "'stores/" + store + "'");
    }

    @Test
    void jarsThatAreNoneAreSaidToBeDamaged() throws IOException {
        Path etcd = Files.createDirectories(installation.store("etcd"));
        Files.writeString(etcd.resolve("holdfast-etcd.jar"), "cut off");
        refused("etcd://127.0.0.1:1", "its files are incomplete or damaged", "'stores/etcd'");
    }

    @Test
    void libraryThatIsMissingIsSaidToBe() throws IOException {
        installation = Installation.with("etcd");
        try (Stream<Path> files = Files.list(installation.store("etcd"))) {
            for (Path grpc :
                    files.filter(file -> file.toString().contains("grpc-api")).toList()) {
                Files.delete(grpc);
            }
        }
        refused("etcd://127.0.0.1:1", "its files are incomplete or damaged (java.lang.NoClassDefFoundError: io/grpc/");
    }

    @Test
    void otherStoresNeedNone() {
        try (CliProcess run = place("quorum:(memory:a,memory:b,memory:c)").run("run", "x", "--", "true")) {
            assertThat(run.exitCode()).as(run.err()).isZero();
        }
    }

    /** So a host that is called like a store is no store. */
    @Test
    void hostsOfOtherStoresMayHaveTheirNames() {
        StoreLocation location = StoreLocation.of(
                "quorum:(redis-sentinel://a:1,etcd:2/main,redis://etcd:3,redis://zookeeper:4)", Map.of());
        assertThat(SeparateStores.directories().keySet()).noneMatch(location::involves);
        assertThat(location.involves("redis")).isTrue();
    }

    @Test
    void buildHasAModuleForEach() throws IOException {
        try (Stream<Path> modules = Files.list(Path.of("stores"))) {
            assertThat(modules.map(module -> module.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(SeparateStores.directories().values().stream()
                            .distinct()
                            .toList());
        }
    }

    private Place place(String uri) {
        return new Place(directory, Map.of("HOLDFAST_STORE", uri), installation.java());
    }

    private void refused(String uri, String... why) {
        try (CliProcess run = place(uri).run("run", "x", "--", "touch", "ran")) {
            assertThat(run.exitCode()).as(run.err()).isEqualTo(78);
            assertThat(run.err())
                    .contains(why)
                    .contains(installation.directory().resolve("stores").toString())
                    .doesNotContain("canary", "bug", "\tat ")
                    .hasLineCount(1);
            assertThat(directory.resolve("ran")).doesNotExist();
        }
    }
}
