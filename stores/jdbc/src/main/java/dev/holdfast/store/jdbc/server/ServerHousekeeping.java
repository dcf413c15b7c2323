package dev.holdfast.store.jdbc.server;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.ledger.runtime.Housekeeper;
import dev.holdfast.store.ledger.runtime.SystemTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes what nobody needs any more: sessions whose time has come, what they left, and resources that rested for as
 * long as is said of them. In small transactions, between those of the commands; one client at a time does it for all.
 */
public final class ServerHousekeeping {

    private static final Logger LOG = LoggerFactory.getLogger(ServerHousekeeping.class);

    /**
     * Longer than the turn before lasts beyond its end, or every second attempt of a client that is alone would be in
     * vain.
     */
    private static final long EVERY_NANOS = TimeUnit.MICROSECONDS.toNanos(CleanerLease.EVERY_MICROS / 10 * 11);

    /** Bounds the time for which a command may have to wait for it. */
    static final int PAGE = 100;

    private final ServerLane lane;
    private final ResourceCleanup resources;
    private final IdlePolicy idle;
    private final Housekeeper housekeeper;

    public ServerHousekeeping(ServerLane lane, IdlePolicy idle, Executor executor) {
        this.lane = lane;
        this.resources = new ResourceCleanup(lane);
        this.idle = idle;
        this.housekeeper = new Housekeeper(executor, SystemTime::nanoTime, EVERY_NANOS, SystemTime.nanoTime(), () -> {
            boolean isDone = takeTurn();
            LOG.debug("housekeeping was {}", isDone ? "done" : "left to another client");
        });
    }

    /** Starts it in the background if it may be time. Costs next to nothing if not. */
    public void consider() {
        housekeeper.consider();
    }

    /** Does it, unless another client is at it or was a moment ago. Tells whether it was done, to the end. */
    public boolean takeTurn() {
        CleanerLease turn = newTurn();
        return turn.begin() && run(idle, turn::goesOn);
    }

    public CleanerLease newTurn() {
        return new CleanerLease(lane);
    }

    /** Does it now, all of it, whoever else is at it. */
    @CanIgnoreReturnValue
    public boolean run(IdlePolicy policy) {
        return run(policy, () -> true);
    }

    /** @param goesOn whether it is still our turn; asked after each page */
    private boolean run(IdlePolicy policy, BooleanSupplier goesOn) {
        return endSessions(goesOn)
                && resources.dropIdle(policy, goesOn)
                && resources.dropUncounted(goesOn)
                && forgetSessions(goesOn);
    }

    private boolean endSessions(BooleanSupplier goesOn) {
        int[] found = {0};
        List<Long> over = new ArrayList<>();
        do {
            over.clear();
            lane.transact(Set.of(), ledger -> {
                over.clear();
                List<Long> page = ledger.rows().sessionsOver(ledger.now(), PAGE);
                found[0] = page.size();
                for (long id : page) {
                    // A late keep-alive may still win.
                    if (ledger.live(id) == null) {
                        over.add(id);
                    }
                }
            });
            over.forEach(this::end);
            if (!goesOn.getAsBoolean()) {
                return false;
            }
            // Where none could be ended, all are in use at this moment: the next turn finds them again.
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
            // It is over all the same, and the next turn drops what is left of it.
            LOG.debug("housekeeping passes over what somebody keeps locked", e);
        }
    }

    private boolean forgetSessions(BooleanSupplier goesOn) {
        int[] found = {0};
        do {
            lane.transact(Set.of(), ledger -> {
                List<Long> page = ledger.rows().sessionsUnused(PAGE);
                found[0] = page.size();
                for (long id : page) {
                    ledger.rows().forget(id);
                }
            });
            if (!goesOn.getAsBoolean()) {
                return false;
            }
        } while (found[0] == PAGE);
        return true;
    }
}
