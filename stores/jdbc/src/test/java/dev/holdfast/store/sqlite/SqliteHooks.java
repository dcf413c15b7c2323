package dev.holdfast.store.sqlite;

import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.store.ledger.runtime.NamedThreadFactory;
import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.sqlite.process.HostIdentity;
import dev.holdfast.store.sqlite.process.ProcFs;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.function.UnaryOperator;

/** Access to internals of a store in a file, for tests of several stores. */
public final class SqliteHooks {

    private SqliteHooks() {}

    /** Opens a store whose connection, threads and clock the test wraps. */
    public static SqliteStore open(
            Path file, UnaryOperator<Connection> between, NamedThreadFactory threads, UnaryOperator<StoreClock> clock) {
        HostIdentity machine = HostIdentity.of(ProcFs.ROOT, SystemClock.nanoTime());
        return SqliteStore.builder(file)
                .between(between)
                .threads(threads)
                .clock(clock.apply(HostClock.of(machine)))
                .open();
    }

    /** Runs the housekeeping now. */
    public static void clean(SqliteStore store) {
        store.housekeeping().run();
    }
}
