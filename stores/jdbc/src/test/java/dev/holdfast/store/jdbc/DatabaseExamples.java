package dev.holdfast.store.jdbc;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.spi.LockStore;
import java.time.Duration;
import javax.sql.DataSource;

/** What {@code docs/stores/postgresql.md} shows. */
final class DatabaseExamples {

    private DatabaseExamples() {}

    /** What the examples write to. */
    interface Archive {
        void write(String report, long fencingToken);
    }

    static void open(Archive archive, String report) throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect("postgresql://shop:secret@db.example.com/shop");
                Hold hold = holdfast.lock("nightly-report").acquire()) {
            archive.write(report, hold.fencingToken());
        }
    }

    static LockStore open(DataSource dataSource) {
        LockStore store = JdbcStore.builder(dataSource).open();
        return store;
    }

    static LockStore forgetting(DataSource dataSource) {
        LockStore store = JdbcStore.builder(dataSource)
                .keepIdle("invoice-*", Duration.ofDays(30)) // the first matching pattern counts
                .keepIdle("request-*", Duration.ofMinutes(10))
                .open();
        return store;
    }
}
