package dev.holdfast.store.sqlite;

import dev.holdfast.servers.sql.TestClient;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A store in a new file on a manual clock, with one session, for each test. */
abstract class OnManualTime {

    @TempDir
    Path directory;

    final ManualTime time = new ManualTime();
    Path file;
    SqliteStore store;
    TestClient client;

    private final Duration ttl;

    /** @param ttl of the session, longer than the test moves the clock */
    OnManualTime(Duration ttl) {
        this.ttl = ttl;
    }

    @BeforeEach
    void open() {
        file = directory.resolve("locks.db");
        store = SqliteStore.builder(file).clock(time).open();
        client = new TestClient(store, ttl);
    }

    @AfterEach
    void close() {
        store.close();
    }
}
