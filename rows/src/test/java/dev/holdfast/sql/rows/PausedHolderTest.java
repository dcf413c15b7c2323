package dev.holdfast.sql.rows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.sql.ChildProcess;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.store.sqlite.SqliteStore;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A process that is stopped for longer than its lease")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class PausedHolderTest {

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(TestDatabase.class)
    @DisplayName("cannot write over its successor, though its lock was good when it last looked")
    @Tag("C11")
    void aPausedHolderIsRefused(TestDatabase database) throws Exception {
        Path locks = directory.resolve("locks.db");
        TestSource ledger = new TestSource(database.newUrl());
        RowTables.usual().createIfMissing(ledger);
        ledger.execute("CREATE TABLE ledger (entry VARCHAR(99) NOT NULL)", "INSERT INTO ledger VALUES ('nothing')");

        try (ChildProcess first = new ChildProcess(PausedHolderMain.class, locks);
                Holdfast holdfast = Holdfast.builder(SqliteStore.open(locks))
                        .sessionTtl(Duration.ofSeconds(30))
                        .build()) {
            assertThat(first.ask(ledger.url())).isEqualTo("holding");
            first.pause();

            try (Hold second = holdfast.lock("ledger").acquire(); // once the lease of the first has expired
                    Connection connection = ledger.begin()) {
                FenceGuard.usual().check(connection, second);
                PausedHolderMain.save(connection, "written by the second");

                first.resume();
                assertThat(first.ask("go on")).isEqualTo("refused: true");
                assertThat(ledger.text("SELECT entry FROM ledger")).isEqualTo("written by the second");
            }
        }
    }
}
