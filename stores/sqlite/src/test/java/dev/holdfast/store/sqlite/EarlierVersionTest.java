package dev.holdfast.store.sqlite;

import dev.holdfast.servers.sql.EarlierProgram;
import dev.holdfast.servers.sql.EarlierVersionRules;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.LockStore;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Programs of version 1.0 next to present ones, on SQLite")
class EarlierVersionTest extends EarlierVersionRules {

    @TempDir
    Path directory;

    /** Its process is that of the earlier program. */
    private @Nullable SqliteStore process;

    private Path file() {
        return directory.resolve("locks.db");
    }

    @Override
    protected EarlierProgram earlier() throws SQLException {
        process = SqliteStore.builder(file())
                .versions(List.of(SqliteSchema.VERSIONS.get(0)))
                .open();
        var unused = new TestClient(process);
        return new EarlierProgram(
                new TestSource("jdbc:sqlite:" + file() + "?transaction_mode=IMMEDIATE"),
                number("SELECT id FROM holdfast_client"));
    }

    @Override
    protected LockStore present() {
        return SqliteStore.open(file());
    }

    @Override
    protected long number(String query) {
        return Database.number(file(), query);
    }

    @Override
    protected void keepHouse(LockStore ofPresent) {
        ((SqliteStore) ofPresent).housekeeping().run();
    }

    @AfterEach
    void end() {
        if (process != null) {
            process.close();
        }
    }
}
