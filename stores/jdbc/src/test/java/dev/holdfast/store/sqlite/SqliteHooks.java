package dev.holdfast.store.sqlite;

import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.store.ledger.runtime.NamedThreadFactory;
import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.sqlite.process.HostIdentity;
import dev.holdfast.store.sqlite.process.ProcFs;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.function.UnaryOperator;

/** What tests of several stores do to a store in a file besides what it offers to users. */
public final class SqliteHooks {

    private SqliteHooks() {}

    /** Opens a store with something between it and its connection, its threads and its clock. */
    public static SqliteStore open(
            Path file, UnaryOperator<Connection> between, NamedThreadFactory threads, UnaryOperator<StoreClock> clock) {
        HostIdentity machine = HostIdentity.of(ProcFs.ROOT, SystemClock.nanoTime());
        return SqliteStore.builder(file)
                .between(between)
                .threads(threads)
                .clock(clock.apply(HostClock.of(machine)))
                .open();
    }

    /** Does the housekeeping now. */
    public static void clean(SqliteStore store) {
        store.housekeeping().run();
    }
}
