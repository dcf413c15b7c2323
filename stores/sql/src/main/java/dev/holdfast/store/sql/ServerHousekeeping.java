package dev.holdfast.store.sql;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.Tokens;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes what nobody needs any more: sessions whose time has come, what they left, and resources that rested for a day. In small transactions, between those of the commands; one client
 * does it for all.
 *
 * <p>A resource is dropped in two turns, so that no statement that began before the floor of the tokens was raised can bring it back with lower ones: the first turn raises the floor above
 * the tokens of all that rest, the next one drops those that are still below it.
 */
final class ServerHousekeeping {

    /** How long a resource that nobody uses keeps its own token counter, and a latch its generation. */
    static final long RETENTION_MICROS = TimeUnit.DAYS.toMicros(1);

    private static final Logger LOG = LoggerFactory.getLogger(ServerHousekeeping.class);

    private static final long EVERY_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long EVERY_MICROS = TimeUnit.MINUTES.toMicros(1);

    /** Bounds the time for which a command may have to wait for it. */
    private static final int PAGE = 100;

    private final ServerLane lane;
    private final Executor executor;
    private final String takeTurn;
    private final AtomicBoolean running = new AtomicBoolean();
    private volatile long askedAtNanos = SystemMachine.nanoTime();

    ServerHousekeeping(ServerLane lane, Product product, Texts texts, Executor executor) {
        this.lane = lane;
        this.executor = executor;
        this.takeTurn = texts.of("UPDATE holdfast_meta SET purged = " + product.clock() + " WHERE purged <= "
                + product.clock() + " - ? OR purged > " + product.clock());
    }

    /** Starts it in the background if it may be time. Costs next to nothing if not. */
    void consider() {
        long now = SystemMachine.nanoTime();
        if (now - askedAtNanos >= EVERY_NANOS && running.compareAndSet(false, true)) {
            askedAtNanos = now;
            try {
                executor.execute(this::attempt);
            } catch (RejectedExecutionException closing) {
                running.set(false);
            }
        }
    }

    private void attempt() {
        try {
            boolean[] isDue = {false};
            lane.transact(Set.of(), ledger -> {
                PreparedStatement update = ledger.backing().statements().prepare(takeTurn);
                update.setLong(1, EVERY_MICROS);
                isDue[0] = update.executeUpdate() > 0;
            });
            if (isDue[0]) {
                run(RETENTION_MICROS);
            }
        } catch (StoreException e) {
            // The next command says what is wrong, to somebody who can act on it.
            LOG.debug("housekeeping was given up", e);
        } finally {
            running.set(false);
        }
    }

    /** Does it now, all of it, with what has rested for that long. */
    void run(long retentionMicros) {
        endSessions();
        dropResources(retentionMicros);
        forgetSessions();
    }

    private void endSessions() {
        int[] found = {0};
        List<Long> over = new ArrayList<>();
        do {
            over.clear();
            lane.transact(Set.of(), ledger -> {
                List<Long> page = ledger.rows().sessionsOver(ledger.now(), PAGE);
                found[0] = page.size();
                for (long id : page) {
                    // A late keep-alive may still win.
                    if (ledger.live(id) == null) {
                        over.add(id);
                    }
                }
            });
            over.forEach(lane::end);
            // Where none could be ended, all are in use at this moment: the next turn finds them again.
        } while (found[0] == PAGE && !over.isEmpty());
    }

    private void forgetSessions() {
        int[] found = {0};
        do {
            lane.transact(Set.of(), ledger -> {
                List<Long> page = ledger.rows().sessionsUnused(PAGE);
                found[0] = page.size();
                for (long id : page) {
                    ledger.rows().forget(id);
                }
            });
        } while (found[0] == PAGE);
    }

    private void dropResources(long retentionMicros) {
        long[] floor = {0};
        long[] rested = {0};
        lane.transact(Set.of(), ledger -> {
            rested[0] = ledger.now() - retentionMicros;
            floor[0] = ledger.rows().floor();
            ledger.rows().raiseFloor(Tokens.floor(Math.max(0, rested[0])));
        });
        byte[] after = ClaimRows.NO_KEY;
        List<ResourceName> page = new ArrayList<>();
        do {
            page.clear();
            byte[] from = after;
            lane.transact(Set.of(), ledger -> page.addAll(ledger.rows().resting(from, floor[0], PAGE)));
            if (!page.isEmpty()) {
                after = page.get(page.size() - 1).utf8();
                lane.transact(Set.copyOf(page), ledger -> {
                    for (ResourceName name : page) {
                        Resource resource = ledger.resource(name);
                        if (resource.isStored
                                && !ledger.isInUse(resource)
                                && resource.lastToken <= floor[0]
                                && ledger.latches().find(resource).changed < rested[0]) {
                            ledger.forget(resource);
                        }
                    }
                    ledger.flush();
                });
            }
        } while (page.size() == PAGE);
    }
}
