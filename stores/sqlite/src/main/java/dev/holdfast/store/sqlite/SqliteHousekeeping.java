package dev.holdfast.store.sqlite;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.ledger.Ledger;
import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.store.ledger.runtime.Housekeeper;
import dev.holdfast.store.ledger.table.ResourceRow;
import dev.holdfast.store.ledger.table.Rows;
import dev.holdfast.store.ledger.table.RunRows;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * Removes resources that were unused for a day, expired sessions, and the rows of programs that crashed. It uses small
 * transactions between those of the commands; one process does it for all, every ten minutes. As often, each process
 * updates the modification times of its open files, and removes the wake-up files of ended processes.
 */
final class SqliteHousekeeping {

    /** How long an unused resource keeps its token counter, and a latch its generation. */
    static final long RETENTION_MICROS = 24L * 3_600 * 1_000_000;

    private static final long EVERY_MICROS = 600L * 1_000_000;

    /** Limits how long a command may have to wait for housekeeping. */
    private static final int PAGE = 100;

    private final SqliteLane lane;
    private final SqliteFile file;
    private final StatementCache statements;
    private final SqliteClients clients;
    private final WakeupFiles wakeupFiles;
    private final StoreClock clock;
    private final Housekeeper housekeeper;

    SqliteHousekeeping(
            SqliteLane lane,
            SqliteDatabase database,
            SqliteClients clients,
            Executor executor,
            WakeupFiles wakeupFiles) {
        this.lane = lane;
        this.file = database.file();
        this.statements = database.statements();
        this.clients = clients;
        this.wakeupFiles = wakeupFiles;
        this.clock = database.clock();
        this.housekeeper = new Housekeeper(
                executor, clock::nowMicros, EVERY_MICROS, clock.nowMicros() - EVERY_MICROS, this::runInTurn);
    }

    /** Starts a run in the background if one may be due. Otherwise almost free. */
    void consider() {
        housekeeper.consider();
    }

    private void runInTurn() {
        file.touch(clock.unixMicros() / 1_000);
        wakeupFiles.touch(clock.unixMicros() / 1_000);
        cleanWakeupFiles();
        boolean[] isDue = {false};
        lane.transact(ledger -> isDue[0] = takeTurn());
        if (isDue[0]) {
            run();
        }
    }

    /** Makes a full run now. */
    void run() {
        repeat(SqliteHousekeeping::endSessions);
        dropResources();
        repeat(SqliteHousekeeping::forgetSessions);
        repeat(ledger -> ledger.annotations().deleteLeft(PAGE));
        repeat(ledger -> new RunRows(statements).deleteOld(clock.unixMicros(), PAGE));
        lane.transact(ledger -> dropClients());
        cleanWakeupFiles();
    }

    private void cleanWakeupFiles() {
        Instant before = Instant.EPOCH.plus(clock.unixMicros() - EVERY_MICROS, ChronoUnit.MICROS);
        wakeupFiles.clean(before, clients::hasEnded, this::isKnown);
    }

    /** A part of the work, in a separate transaction; returns how many rows it found. */
    private interface Part {
        int carryOut(Ledger ledger) throws SQLException;
    }

    private void repeat(Part part) {
        int[] found = {0};
        do {
            lane.transact(ledger -> {
                found[0] = part.carryOut(ledger);
                ledger.flush();
            });
        } while (found[0] == PAGE);
    }

    private static int endSessions(Ledger ledger) throws SQLException {
        List<Long> over = ledger.rows().sessionsOver(ledger.now(), PAGE);
        for (long id : over) {
            SessionRow ended = ledger.live(id);
            assert ended == null;
        }
        return over.size();
    }

    private static int forgetSessions(Ledger ledger) throws SQLException {
        List<Long> unused = ledger.rows().sessionsUnused(PAGE);
        for (long id : unused) {
            SessionRow session = ledger.sessions().known(id);
            if (session != null) {
                ledger.sessions().drop(session);
            }
        }
        return unused.size();
    }

    private void dropResources() {
        long rested = clock.unixMicros() - RETENTION_MICROS;
        long below = Tokens.floor(Math.max(0, rested));
        byte[][] after = {new byte[0]};
        repeat(ledger -> {
            List<Rows.Resting> page = ledger.rows().resting(after[0], below, PAGE);
            for (Rows.Resting one : page) {
                ResourceName name = one.name();
                ResourceRow resource = ledger.resource(name);
                if (!ledger.isInUse(resource)
                        && resource.lastToken < below
                        && ledger.latches().find(resource).changed < rested) {
                    ledger.forget(resource);
                }
                after[0] = name.utf8();
            }
            return page.size();
        });
    }

    // Only in SQLite

    /** Takes the next run if one is due; returns whether it is ours. */
    private boolean takeTurn() throws SQLException {
        long unix = clock.unixMicros();
        PreparedStatement update =
                statements.prepare("UPDATE holdfast_meta SET purged = ?1 WHERE purged <= ?1 - ?2 OR purged > ?1");
        update.setLong(1, unix);
        update.setLong(2, EVERY_MICROS);
        return update.executeUpdate() > 0;
    }

    private void dropClients() throws SQLException {
        statements
                .prepare("DELETE FROM holdfast_client"
                        + " WHERE NOT EXISTS (SELECT 1 FROM holdfast_session WHERE client = holdfast_client.id)")
                .executeUpdate();
    }

    private boolean isKnown(long client) {
        boolean[] known = {true};
        lane.transact(ledger -> {
            PreparedStatement select = statements.prepare("SELECT 1 FROM holdfast_client WHERE id = ?");
            select.setLong(1, client);
            try (ResultSet row = select.executeQuery()) {
                known[0] = row.next();
            }
        });
        return known[0];
    }
}
