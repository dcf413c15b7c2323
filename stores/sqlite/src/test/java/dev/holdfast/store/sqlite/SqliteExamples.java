package dev.holdfast.store.sqlite;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.io.IOException;

/** The examples of {@code docs/stores/sqlite.md}. */
final class SqliteExamples {

    private SqliteExamples() {}

    /** The target of the examples' writes. */
    interface Archive {
        void write(String report, long fencingToken);
    }

    static void open(Archive archive, String report) throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect("sqlite:/var/lib/shop/locks.db");
                Hold hold = holdfast.lock("nightly-report").acquire()) {
            archive.write(report, hold.fencingToken());
        }
    }

    static Process start(SqliteStore store, ProcessBuilder builder) throws IOException {
        Presence presence = store.presence();
        presence.leaseOnly(); // our death no longer frees the lock
        presence.mark(builder.environment()); // everything the child starts carries this mark
        Process child = builder.start();
        presence.follow(child.pid());
        return child;
    }
}
