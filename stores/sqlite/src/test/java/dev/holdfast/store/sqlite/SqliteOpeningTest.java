package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.servers.Programs;
import dev.holdfast.servers.sql.ChildProcess;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SqliteOpeningTest {

    @TempDir
    Path directory;

    private Path file() {
        return directory.resolve("locks.db");
    }

    private static void denied(ThrowingCallable opening, String... words) {
        assertThatThrownBy(opening)
                .isInstanceOfSatisfying(StoreException.class, e -> {
                    assertThat(e.reason()).isEqualTo(Reason.DENIED);
                    assertThat(e.effect()).isEqualTo(Effect.NONE);
                })
                .hasMessageContainingAll(words);
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "no such permissions there")
    void theFileIsPrivateFromTheStart() throws IOException {
        Path made = directory.resolve("made/here/locks.db");
        try (SqliteStore store = SqliteStore.builder(made).makeDirectory().open()) {
            TestClient client = new TestClient(store);
            assertThat(client.granted("x").tokens().first()).isPositive();

            try (var files = Files.walk(directory.resolve("made"))) {
                assertThat(files)
                        .allSatisfy(
                                path -> assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                                        .isEqualTo(Files.isDirectory(path) ? "rwx------" : "rw-------"));
            }
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "no such permissions there")
    void whoMayUseTheFileMayTellItsUsers() throws IOException {
        SqliteStore.open(file()).close();
        Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-rw----"));

        try (SqliteStore store = SqliteStore.open(file())) {
            new TestClient(store).keepAlive();

            try (var files = Files.walk(directory.resolve("locks.db-wake"))) {
                assertThat(files)
                        .hasSizeGreaterThan(2)
                        .allSatisfy(
                                path -> assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                                        .isEqualTo(Files.isDirectory(path) ? "rwxrwx---" : "rw-rw----"));
            }
        }
    }

    @Test
    void nothingStaysBesideTheFile() throws IOException {
        try (SqliteStore store = SqliteStore.open(file())) {
            TestClient client = new TestClient(store);
            assertThat(client.granted("x").tokens().first()).isPositive();
            client.close();
        }

        try (var files = Files.list(directory.resolve("locks.db-wake"))) {
            assertThat(files).isEmpty();
        }
        assertThat(file().resolveSibling("locks.db-wal")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"with blank.db", "what?mode=memory", "100%.db", "a#b&c=d.db", "ümläut🔒.db", "';--.db"})
    void anyNameWillDo(String name) throws IOException {
        Path odd = directory.resolve(name);
        try (SqliteStore store = SqliteStore.open(odd)) {
            assertThat(new TestClient(store).granted("x").tokens().first()).isPositive();
            assertThat(Files.size(odd)).isPositive();
        }
        try (var files = Files.list(directory)) {
            assertThat(files.map(path -> path.getFileName().toString())).containsOnly(name, name + "-wake");
        }
    }

    @Test
    void whatIsNoDatabaseIsNotTouched() throws IOException {
        byte[] text = "Dear diary, ".repeat(200).getBytes(StandardCharsets.UTF_8);
        Files.write(file(), text);

        denied(() -> SqliteStore.open(file()), file().toString(), "not a SQLite database");

        assertThat(file()).hasBinaryContent(text);
    }

    @Test
    void theDatabaseOfAnotherProgramIsNotTouched() throws IOException {
        Database.run(file(), "CREATE TABLE diary (day TEXT)");
        byte[] before = Files.readAllBytes(file());

        denied(() -> SqliteStore.open(file()), file().toString(), "another program");

        assertThat(file()).hasBinaryContent(before);
    }

    @Test
    void nativeCodeThatCantBeLoadedIsNamedWithARemedy() {
        Path missing = directory.resolve("missing");
        try (Programs programs = new Programs()) {
            programs.start(UnpackingMain.class, missing.toString(), file().toString());
            programs.awaitLine("DENIED: SQLite's native code can't be loaded: the driver unpacks it into "
                    + Pattern.quote(missing.toString()) + ", .*org.sqlite.tmpdir to use another directory.*");
        }
        assertThat(file()).doesNotExist();
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "there is no such limit there")
    void aLackOfFileDescriptorsIsNotTakenForAnythingElse() throws Exception {
        SqliteStore.open(file()).close();
        try (ChildProcess child =
                new ChildProcess(DescriptorsMain.class, file(), "sh", "-c", "ulimit -n 150; exec \"$@\"", "sh")) {
            String[] answers = child.ask("open").split(" [|] ");

            assertThat(answers).hasSizeGreaterThan(2).endsWith("opened");
            assertThat(Arrays.copyOf(answers, answers.length - 1))
                    .allSatisfy(answer ->
                            assertThat(answer).startsWith("UNAVAILABLE").contains("no free file descriptor"));
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "SQLite's files can't be told apart there")
    void aFileOfSeveralNamesIsRefused() throws IOException {
        SqliteStore.open(file()).close();
        Path other = Files.createLink(directory.resolve("other.db"), file());
        denied(() -> SqliteStore.open(file()), "has 2 names (hard links)", "locks.db");
        denied(() -> SqliteStore.open(other), "has 2 names (hard links)", "other.db");
        Path symbolic = Files.createSymbolicLink(directory.resolve("symbolic.db"), file());
        denied(() -> SqliteStore.open(symbolic), "has 2 names (hard links)", "locks.db");

        Files.delete(other);

        try (SqliteStore one = SqliteStore.open(file());
                SqliteStore same = SqliteStore.open(symbolic)) {
            assertThat(new TestClient(one).granted("x").tokens().first()).isPositive();
            TestClient client = new TestClient(same);
            assertThat(client.acquire(client.ref("x"))).isInstanceOf(Reply.Queued.class);
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "no mounts of files there")
    void aFileThatIsMountedByItselfIsRefused() throws IOException {
        Path proc = directory.resolve("proc");
        Files.createDirectories(proc.resolve("self"));
        Files.createFile(file());
        String mounts =
                "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n28 27 254:0 /locks.db %s rw - ext4 /dev/vda rw\n";
        Files.writeString(proc.resolve("self/mountinfo"), mounts.formatted(file().toRealPath()));
        denied(() -> SqliteFile.prepare(file(), false, proc), "is mounted as a single file", "mount its directory");

        Files.writeString(proc.resolve("self/mountinfo"), mounts.formatted(directory.toRealPath()));
        assertThat(SqliteFile.prepare(file(), false, proc).path()).isEqualTo(file().toRealPath());
    }

    @Test
    void aDirectoryIsNoFile() {
        denied(() -> SqliteStore.open(directory), directory.toString(), "is a directory");
    }

    @Test
    void aMissingDirectoryIsNotMadeUnasked() {
        Path file = directory.resolve("no/locks.db");

        denied(() -> SqliteStore.open(file), directory.resolve("no").toString(), "does not exist");

        assertThat(directory.resolve("no")).doesNotExist();
    }

    @Test
    void aFileThatMayNotBeWrittenIsRefused() throws Exception {
        SqliteStore.open(file()).close();
        try (Immutable frozen = Immutable.freeze(file())) {
            assumeTrue(frozen.works(), "this user may write everywhere");

            denied(() -> SqliteStore.open(file()), file().toString(), "may not read and write");
        }
    }

    @Test
    void aDirectoryThatMayNotBeWrittenIsRefused() throws Exception {
        Path frozenDirectory = Files.createDirectory(directory.resolve("frozen"));
        try (Immutable frozen = Immutable.freeze(frozenDirectory)) {
            assumeTrue(frozen.works(), "this user may write everywhere");

            denied(() -> SqliteStore.open(frozenDirectory.resolve("locks.db")), frozenDirectory.toString());
        }
    }

    @Test
    void anotherMajorVersionIsRefused() {
        SqliteStore.open(file()).close();
        Database.run(file(), "PRAGMA user_version = 2000");
        denied(() -> SqliteStore.open(file()), "version 2.0", "supports 1.1", "newer");

        Database.run(file(), "PRAGMA user_version = 3");
        denied(() -> SqliteStore.open(file()), "version 0.3", "older");
    }

    @Test
    void aNewerMinorVersionIsUsedAndAnOlderOneBroughtUp() {
        List<List<String>> next = new ArrayList<>(SqliteSchema.VERSIONS);
        next.add(List.of("ALTER TABLE holdfast_resource ADD COLUMN comment TEXT"));
        try (SqliteStore old = SqliteStore.open(file())) {
            TestClient client = new TestClient(old);
            long before = client.granted("x").tokens().last();

            try (SqliteStore newer = SqliteStore.builder(file()).versions(next).open()) {
                assertThat(Database.number(file(), "PRAGMA user_version")).isEqualTo(1002);
                assertThat(new TestClient(newer).acquire(client.ref("x"))).isNotNull();
            }
            // The open store continues, and an older program can still open the file.
            assertThat(client.granted("y").tokens().first()).isPositive();
            try (SqliteStore old2 = SqliteStore.open(file())) {
                assertThat(new TestClient(old2).granted("z").tokens().first()).isPositive();
            }
            assertThat(Database.number(file(), "PRAGMA user_version")).isEqualTo(1002);
            assertThat(Database.number(
                            file(), "SELECT last_token FROM holdfast_resource WHERE name = CAST('x' AS BLOB)"))
                    .isGreaterThanOrEqualTo(before);
        }
    }

    @Test
    void manyMayOpenANewFileAtOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            for (int round = 0; round < 10; round++) {
                Path file = directory.resolve("round-" + round);
                List<Future<SqliteStore>> opening = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    opening.add(threads.submit(() -> SqliteStore.open(file)));
                }
                for (Future<SqliteStore> one : opening) {
                    try (SqliteStore store = one.get()) {
                        TestClient client = new TestClient(store);
                        client.release(grant(client));
                    }
                }
            }
        } finally {
            threads.shutdown();
        }
    }

    private static ClaimRef grant(TestClient client) {
        ClaimRef claim = client.ref("x");
        assertThat(client.acquire(claim)).isInstanceOf(Reply.Granted.class);
        return claim;
    }
}
