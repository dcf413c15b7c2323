package dev.holdfast.store.jdbc.server;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.ledger.Ledger;
import dev.holdfast.store.ledger.runtime.Housekeeper;
import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.ledger.table.RunRows;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes expired sessions, their claims, and resources that have been unused for as long as the policy says. It uses
 * small transactions between those of the commands; one client at a time does it for all.
 */
public final class ServerHousekeeping {

    private static final Logger LOG = LoggerFactory.getLogger(ServerHousekeeping.class);

    /**
     * Longer than the previous lease outlasts its run; otherwise every second attempt of a single client would fail.
     */
    private static final long EVERY_NANOS = TimeUnit.MICROSECONDS.toNanos(CleanerLease.EVERY_MICROS / 10 * 11);

    /** Limits how long a command may have to wait for housekeeping. */
    static final int PAGE = 100;

    private final ServerLane lane;
    private final ResourceCleanup resources;
    private final IdlePolicy idle;
    private final Housekeeper housekeeper;

    public ServerHousekeeping(ServerLane lane, IdlePolicy idle, Executor executor) {
        this.lane = lane;
        this.resources = new ResourceCleanup(lane);
        this.idle = idle;
        this.housekeeper = new Housekeeper(executor, SystemClock::nanoTime, EVERY_NANOS, SystemClock.nanoTime(), () -> {
            boolean isDone = runIfDue();
            LOG.debug("housekeeping was {}", isDone ? "done" : "left to another client");
        });
    }

    /** Starts a run in the background if one may be due. Otherwise almost free. */
    public void consider() {
        housekeeper.consider();
    }

    /** Runs unless another client is doing so or just has. Returns whether the run was completed. */
    public boolean runIfDue() {
        CleanerLease lease = newLease();
        return lease.begin() && run(idle, lease::renew);
    }

    public CleanerLease newLease() {
        return new CleanerLease(lane);
    }

    /** Makes a full run now, even if another client is doing so. */
    @CanIgnoreReturnValue
    public boolean run(IdlePolicy policy) {
        return run(policy, () -> true);
    }

    /** @param renewLease renews the lease after each page; false ends the run */
    private boolean run(IdlePolicy policy, BooleanSupplier renewLease) {
        return endSessions(renewLease)
                && resources.dropIdle(policy, renewLease)
                && resources.dropUncounted(renewLease)
                && forgetSessions(renewLease)
                && deleteLeftAnnotations(renewLease)
                && deleteOldRuns(renewLease);
    }

    private boolean endSessions(BooleanSupplier renewLease) {
        int[] found = {0};
        List<Long> over = new ArrayList<>();
        do {
            over.clear();
            lane.transact(Set.of(), ledger -> {
                over.clear();
                List<Long> page = ledger.rows().sessionsOver(ledger.now(), PAGE);
                found[0] = page.size();
                for (long id : page) {
                    // A late keep-alive may still renew it.
                    if (ledger.live(id) == null) {
                        over.add(id);
                    }
                }
            });
            over.forEach(this::end);
            if (!renewLease.getAsBoolean()) {
                return false;
            }
            // If none could be ended, all are locked at this moment; the next run finds them again.
        } while (found[0] == PAGE && !over.isEmpty());
        return true;
    }

    private void end(long session) {
        try {
            lane.end(session);
        } catch (StoreException e) {
            if (!RowsBusyException.areCauseOf(e)) {
                throw e;
            }
            // The session has ended all the same, and the next run drops its remaining claims.
            LOG.debug("housekeeping skips locked rows", e);
        }
    }

    private boolean forgetSessions(BooleanSupplier renewLease) {
        return repeat(renewLease, ledger -> {
            List<Long> page = ledger.rows().sessionsUnused(PAGE);
            for (long id : page) {
                ledger.rows().forget(id);
            }
            return page.size();
        });
    }

    private boolean deleteLeftAnnotations(BooleanSupplier renewLease) {
        return repeat(renewLease, ledger -> ledger.annotations().deleteLeft(PAGE));
    }

    private boolean deleteOldRuns(BooleanSupplier renewLease) {
        return repeat(
                renewLease,
                ledger -> new RunRows(ledger.context().statements())
                        .deleteOld(ledger.context().clock().unixMicros(), PAGE));
    }

    /** A part of the work, in a separate transaction; returns how many rows it found. */
    @FunctionalInterface
    private interface Part {
        int carryOut(Ledger ledger) throws SQLException;
    }

    private boolean repeat(BooleanSupplier renewLease, Part part) {
        int[] found = {0};
        do {
            lane.transact(Set.of(), ledger -> found[0] = part.carryOut(ledger));
            if (!renewLease.getAsBoolean()) {
                return false;
            }
        } while (found[0] == PAGE);
        return true;
    }
}
