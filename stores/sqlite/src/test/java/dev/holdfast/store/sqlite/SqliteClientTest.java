package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.servers.UnansweredCalls;
import dev.holdfast.servers.sql.ChildProcess;
import dev.holdfast.spi.TokenBlock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The behaviour of the client when something happens to the file. */
class SqliteClientTest {

    /** So long that a notification during a test does not come from the end of the lease. */
    private static final Duration LONG = Duration.ofHours(1);

    @TempDir
    Path directory;

    private Path file() {
        return directory.resolve("locks.db");
    }

    private Holdfast.Builder client() {
        return Holdfast.builder("sqlite:" + file()).sessionTtl(LONG).keepAliveEvery(Duration.ofMillis(100));
    }

    private static void refused(ThrowingCallable call, String... words) {
        assertThatThrownBy(call).isInstanceOf(StoreRefusedException.class).hasMessageContainingAll(words);
    }

    /** Damage to a file in use. */
    enum Harm {
        DELETED("was deleted") {
            @Override
            void to(Path file) throws IOException {
                Files.delete(file);
            }
        },
        REPLACED("was replaced") {
            @Override
            void to(Path file) throws IOException {
                Path other = file.resolveSibling("other.db");
                SqliteStore.open(other).close();
                Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
            }
        },
        WITHOUT_ITS_LOG("lost its log") {
            @Override
            void to(Path file) throws IOException {
                Files.delete(file.resolveSibling(file.getFileName() + "-wal"));
            }
        },
        WITHOUT_ITS_SHARED_MEMORY("lost its shared memory") {
            @Override
            void to(Path file) throws IOException {
                Files.delete(file.resolveSibling(file.getFileName() + "-shm"));
            }
        },
        WITH_OTHER_SHARED_MEMORY("lost its shared memory") {
            @Override
            void to(Path file) throws IOException {
                // Like a shell that opens the file after the old one was deleted.
                Path sharedMemory = file.resolveSibling(file.getFileName() + "-shm");
                Files.delete(sharedMemory);
                Files.write(sharedMemory, new byte[32_768]);
            }
        },
        OF_ANOTHER_MACHINE("another machine") {
            @Override
            void to(Path file) {
                Database.run(file, "UPDATE holdfast_meta SET boot = 'elsewhere'");
            }
        };

        final String words;

        Harm(String words) {
            this.words = words;
        }

        abstract void to(Path file) throws IOException;
    }

    @ParameterizedTest
    @EnumSource
    @Tag("C2")
    void aHolderIsToldAtItsNextKeepAliveThatTheFileIsNotTheTruthAnyMore(Harm harm) throws Exception {
        try (Holdfast holdfast = client().build()) {
            Hold hold = holdfast.lock("ledger").acquire();
            CompletableFuture<Loss> reportedLoss = new CompletableFuture<>();
            hold.onLost(reportedLoss::complete);

            harm.to(file());

            Loss loss = reportedLoss.get(60, TimeUnit.SECONDS);
            assertThat(loss.name()).isEqualTo("ledger");
            assertThat(loss.cause()).isEqualTo(Loss.Cause.SESSION_ENDED);
            assertThat(hold.isHeld()).isFalse();
            assertThatThrownBy(hold::fencingToken).isInstanceOf(LockLostException.class);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            for (String name : List.of("ledger", "other")) {
                refused(() -> holdfast.lock(name).acquire(), name, file().toString(), harm.words);
                refused(() -> holdfast.lock(name).tryLock(), name, file().toString(), harm.words);
            }
        }
    }

    @Test
    void aFileThatWasDeletedIsNotMadeAgainByWhoHadItOpen() throws Exception {
        try (Holdfast holdfast = client().build()) {
            assertThat(holdfast.lock("ledger").tryLock()).isTrue();
            Files.delete(file());

            refused(
                    () -> {
                        for (int i = 0; holdfast.lock("other/" + i).tryLock(); i++) {
                            assertThat(i).isLessThan(1_000_000);
                        }
                    },
                    "was deleted");

            assertThat(file()).doesNotExist();
        }
        assertThat(file()).doesNotExist();
    }

    @Test
    void whereThereIsNoRoomForAnotherLockThatIsSaidAndWhatIsHeldLasts() throws Exception {
        try (SqliteStore store = SqliteStore.builder(file())
                        .pragmas("max_page_count = 40")
                        .open();
                Holdfast holdfast = Holdfast.builder(store)
                        .sessionTtl(Duration.ofSeconds(30))
                        .keepAliveEvery(Duration.ofMillis(100))
                        .build()) {
            Hold hold = holdfast.lock("ledger").acquire();
            List<Hold> fill = new ArrayList<>();

            Throwable refused = catchThrowable(() -> {
                while (fill.size() < 10_000) {
                    fill.add(holdfast.lock(name(fill.size())).acquire());
                }
            });

            assertThat(refused)
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContainingAll(name(fill.size()), file().toString(), "no space left", "free some");
            refused(() -> holdfast.lock(name(fill.size())).tryLock(), "no space left");
            assertThat(hold.isHeld()).isTrue();
            hold.ensureHeld();
            for (Hold each : fill) {
                each.close();
            }
            hold.close();
            // Names with existing rows can be locked again.
            holdfast.lock("ledger").acquire().close();
        }
        try (Holdfast roomier = client().build()) {
            roomier.lock(name(10_000)).acquire().close();
        }
    }

    private static String name(int number) {
        return "x".repeat(400) + number;
    }

    @Test
    @Tag("C2")
    @Tag("C15")
    void onAFullDiskWhatIsHeldIsRenewedAndReleased() throws Exception {
        try (ChildProcess child = onSmallDisk()) {
            assertThat(child.ask("fill under a hold")).isEqualTo("full");
            assertThat(child.ask("renewed")).isEqualTo("held after 5 renewals");
            // More than any log can hold.
            assertThat(child.ask("keepAlive")).isEqualTo("alive");
            assertThat(child.ask("acquire")).isEqualTo("acquired");
            assertThat(child.ask("acquire many"))
                    .startsWith("StoreRefusedException Lock 'xxx")
                    .contains("no space left");
            assertThat(child.ask("keepAlive")).isEqualTo("alive");
            assertThat(child.ask("renewed")).isEqualTo("held after 5 renewals");
            assertThat(child.ask("acquire")).isEqualTo("acquired");
            assertThat(child.ask("close")).isEqualTo("closed");
            assertThat(child.ask("again")).isEqualTo("held with a greater token");
            assertThat(child.ask("acquire many")).contains("no space left");
            assertThat(child.ask("empty")).isEqualTo("room");
            assertThat(child.ask("acquire new")).isEqualTo("acquired");
        }
    }

    /** As with a disk quota. */
    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "elsewhere the limits of a running process can't be changed")
    void whereFilesMayNotGrowWhatIsHeldIsRenewedAndReleased() throws Exception {
        try (ChildProcess one = new ChildProcess(ChildMain.class, file());
                ChildProcess two = new ChildProcess(ChildMain.class, file())) {
            assertThat(one.ask("acquire x")).isEqualTo("granted");
            assertThat(two.ask("acquire y")).isEqualTo("granted");
            long bytes = Math.max(
                    Files.size(directory.resolve("locks.db-wal")), Files.size(directory.resolve("locks.db-shm")));
            for (ChildProcess child : List.of(one, two)) {
                assumeTrue(
                        succeeds(List.of("prlimit", "--pid", child.pid() + "", "--fsize=" + bytes + ":" + bytes)),
                        "there is no prlimit command here");
            }

            // Fewer answers than fit into a pipe.
            for (int i = 0; i < 500; i++) {
                one.send("keepAlive");
                two.send("keepAlive");
            }
            for (int i = 0; i < 500; i++) {
                assertThat(one.answer()).isEqualTo("alive");
                assertThat(two.answer()).isEqualTo("alive");
            }

            assertThat(one.ask("release")).isEqualTo("released");
            assertThat(two.ask("acquire x")).isEqualTo("granted");
        }
    }

    /** A process with a private disk, which ends with it. */
    private ChildProcess onSmallDisk() throws Exception {
        String[] prefix = {
            "unshare",
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            "mount -t tmpfs -o size=1m tmpfs \"$0\" && exec \"$@\"",
            directory.toString()
        };
        List<String> probe = new ArrayList<>(List.of(prefix));
        probe.add("true");
        assumeTrue(succeeds(probe), "this user can't mount a small disk");
        return new ChildProcess(SmallDiskMain.class, file(), prefix);
    }

    private static boolean succeeds(List<String> command) throws InterruptedException {
        try {
            Process process = new ProcessBuilder(command).start();
            return process.waitFor(60, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException noSuchCommand) {
            return false;
        }
    }

    @Test
    void aDamagedRowIsToldWithTheNameOfItsLockAndAllOthersGoOn() throws Exception {
        try (Holdfast holdfast = client().build()) {
            holdfast.lock("bad").acquire().close();
            Hold other = holdfast.lock("good").acquire();
            Database.run(file(), "UPDATE holdfast_resource SET last_token = -1 WHERE name = CAST('bad' AS BLOB)");

            refused(() -> holdfast.lock("bad").acquire(), "'bad'", "damaged");
            refused(() -> holdfast.lock("bad").tryLock(), "'bad'", "damaged");

            assertThat(other.isHeld()).isTrue();
            other.close();
            other = holdfast.lock("good").acquire();
            other.close();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {TokenBlock.MAX_TOKEN, Long.MAX_VALUE})
    void aLockWhoseTokensAreUsedUpIsNotGrantedAnyMore(long last) throws Exception {
        try (Holdfast holdfast = client().build()) {
            holdfast.lock("worn").acquire().close();
            Database.run(file(), "UPDATE holdfast_resource SET last_token = " + last);

            refused(() -> holdfast.lock("worn").acquire(), "'worn'", "fencing tokens are exhausted");
            refused(() -> holdfast.lock("worn").tryLock(), "'worn'", "fencing tokens are exhausted");

            holdfast.lock("fresh").acquire().close();
        }
    }

    @Test
    void whatCantBeUsedIsRefusedBeforeThereIsAClient() throws IOException {
        refused(() -> Holdfast.connect("sqlite:" + directory), directory.toString(), "is a directory");
        refused(() -> Holdfast.connect("sqlite:" + directory.resolve("no/locks.db")), "does not exist");

        Files.writeString(file(), "Dear diary, ".repeat(200));
        refused(() -> Holdfast.connect("sqlite:" + file()), file().toString(), "not a SQLite database");
        Files.delete(file());

        Database.run(file(), "CREATE TABLE diary (day TEXT)");
        refused(() -> Holdfast.connect("sqlite:" + file()), file().toString(), "another program");
        Files.delete(file());

        SqliteStore.open(file()).close();
        Database.run(file(), "PRAGMA user_version = 2000");
        refused(() -> Holdfast.connect("sqlite:" + file()), "version 2.0", "supports 1.1");
    }

    @Test
    void aFileThatMayNotBeWrittenIsRefusedBeforeThereIsAClient() throws Exception {
        SqliteStore.open(file()).close();
        try (Immutable frozen = Immutable.freeze(file())) {
            assumeTrue(frozen.works(), "this user may write everywhere");

            refused(() -> Holdfast.connect("sqlite:" + file()), file().toString(), "may not read and write");
        }
    }

    @Test
    void clientsOfTwoMinorVersionsKeepEachOtherOut() throws Exception {
        List<List<String>> next = new ArrayList<>(SqliteSchema.VERSIONS);
        next.add(List.of("ALTER TABLE holdfast_resource ADD COLUMN comment TEXT"));
        try (Holdfast older = client().build();
                SqliteStore store = SqliteStore.builder(file()).versions(next).open();
                Holdfast newer = Holdfast.builder(store).build()) {
            Hold first = older.lock("ledger").acquire();
            assertThat(newer.lock("ledger").tryLock()).isFalse();
            CompletableFuture<Hold> waiting =
                    newer.lock("ledger").acquireAsync().toCompletableFuture();
            long token = first.fencingToken();
            first.close();

            Hold second = waiting.get(60, TimeUnit.SECONDS);
            assertThat(second.fencingToken()).isGreaterThan(token);
            assertThat(older.lock("ledger").tryLock()).isFalse();
            second.close();
            older.lock("ledger").acquire().close();
        }
    }

    @Test
    @Tag("C15")
    void aFileThatSomebodyKeepsLockedKeepsNoCaller() throws Exception {
        try (SqliteStore store = SqliteStore.builder(file())
                        .busyTimeout(UnansweredCalls.LONG_WAIT)
                        .open();
                Connection other = Database.open(file())) {
            Statement statement = other.createStatement();
            UnansweredCalls.endInTime(
                    Holdfast.builder(store),
                    () -> assertThat(statement.executeUpdate("BEGIN IMMEDIATE")).isZero(),
                    () -> assertThat(statement.executeUpdate("ROLLBACK")).isZero());
        }
    }
}
