package dev.holdfast.store.jdbc.server;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.ledger.runtime.Housekeeper;
import dev.holdfast.store.ledger.runtime.SystemTime;
import dev.holdfast.store.ledger.table.ClaimRows;
import dev.holdfast.store.ledger.table.Resource;
import dev.holdfast.store.ledger.table.Rows;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes what nobody needs any more: sessions whose time has come, what they left, and resources that rested for as
 * long as is said of them. In small transactions, between those of the commands; one client at a time does it for all.
 *
 * <p>A resource is dropped in two turns, so that no statement that began before the floor of the tokens was raised can
 * bring it back with lower ones: the first turn raises the floor above the tokens of all that rest, the next one drops
 * those that are still below it. That this is another turn, and so a minute later at least, is what counts; who has it
 * does not.
 */
public final class ServerHousekeeping {

    private static final Logger LOG = LoggerFactory.getLogger(ServerHousekeeping.class);

    /**
     * Longer than the turn before lasts beyond its end, or every second attempt of a client that is alone would be in
     * vain.
     */
    private static final long EVERY_NANOS = TimeUnit.MICROSECONDS.toNanos(CleanerLease.EVERY_MICROS / 10 * 11);

    /** Bounds the time for which a command may have to wait for it. */
    private static final int PAGE = 100;

    /** So many names are read at a time, and dropped, if they are plain: a few milliseconds. */
    private static final int SCANNED = 500;

    private final ServerLane lane;
    private final IdlePolicy idle;
    private final Housekeeper housekeeper;

    public ServerHousekeeping(ServerLane lane, IdlePolicy idle, Executor executor) {
        this.lane = lane;
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
        return endSessions(goesOn) && dropResources(policy, goesOn) && dropUncounted(goesOn) && forgetSessions(goesOn);
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

    private boolean dropResources(IdlePolicy policy, BooleanSupplier goesOn) {
        long[] floor = {0};
        long[] now = {0};
        lane.transact(Set.of(), ledger -> {
            now[0] = ledger.now();
            floor[0] = ledger.rows().floor();
            ledger.rows().raiseFloor(Tokens.floor(policy.newest(now[0])));
        });
        byte[][] after = {ClaimRows.NO_KEY};
        List<Rows.Resting> page = new ArrayList<>();
        while (true) {
            long begin = SystemTime.nanoTime();
            lane.transact(Set.of(), ledger -> {
                page.clear();
                page.addAll(ledger.rows().names(after[0], SCANNED));
            });
            dropIdle(page, policy, floor[0], now[0]);
            if (!goesOn.getAsBoolean()) {
                return false;
            }
            if (page.size() < SCANNED) {
                return true;
            }
            after[0] = page.get(page.size() - 1).name().utf8();
            // Commands come first: they have at least as much of the time.
            LockSupport.parkNanos(SystemTime.nanoTime() - begin);
        }
    }

    /** Drops those that have rested for long: at once what is plain, and the rest by a look at each. */
    private void dropIdle(List<Rows.Resting> page, IdlePolicy policy, long floor, long now) {
        List<Rows.Resting> over = page.stream()
                .filter(one -> one.lastToken() <= floor && policy.isOver(one.name(), one.lastToken(), now))
                .toList();
        List<ResourceName> idle = over.stream().map(Rows.Resting::name).toList();
        Set<ResourceName> left = new LinkedHashSet<>(idle);
        if (!over.isEmpty()) {
            left.removeAll(lane.drop(
                    idle, over.stream().mapToLong(Rows.Resting::lastToken).max().orElse(0)));
        }
        // What has claims is looked at in any case, for they may be dead.
        page.stream().filter(Rows.Resting::hasClaims).map(Rows.Resting::name).forEach(left::add);
        List<ResourceName> rest = List.copyOf(left);
        for (int from = 0; from < rest.size(); from += PAGE) {
            unlessLocked(
                    rest.subList(from, Math.min(rest.size(), from + PAGE)), free -> drop(free, policy, floor, now));
        }
    }

    /**
     * Drops the claims that ended sessions have left on resources whose rows somebody has deleted by hand: those on one
     * resource of each session in each turn.
     */
    private boolean dropUncounted(BooleanSupplier goesOn) {
        List<Rows.Uncounted> page = new ArrayList<>();
        do {
            long after = page.isEmpty() ? 0 : page.get(page.size() - 1).session();
            lane.transact(Set.of(), ledger -> {
                page.clear();
                page.addAll(ledger.rows().uncounted(after, PAGE));
            });
            List<ResourceName> names = page.stream()
                    .map(Rows.Uncounted::name)
                    .filter(Objects::nonNull)
                    .distinct()
                    .toList();
            if (!names.isEmpty()) {
                unlessLocked(names, this::dropUncounted);
            }
            if (!goesOn.getAsBoolean()) {
                return false;
            }
        } while (page.size() == PAGE);
        return true;
    }

    /** A row is made for each of them, since only under its lock nobody adds claims meanwhile. */
    private void dropUncounted(List<ResourceName> page) throws RowsBusyException {
        lane.transactUnlessLocked(Set.copyOf(page), Set.copyOf(page), ledger -> {
            for (ResourceName name : page) {
                ledger.claims().dropUncounted(ledger.resources().load(name));
            }
        });
    }

    /** Work on several resources. */
    @FunctionalInterface
    private interface OnResources {
        void carryOut(List<ResourceName> page) throws RowsBusyException;
    }

    /** Those whose rows somebody keeps locked are left for the next turn. */
    private static void unlessLocked(List<ResourceName> page, OnResources work) {
        List<ResourceName> free = new ArrayList<>(page);
        while (!free.isEmpty()) {
            try {
                work.carryOut(List.copyOf(free));
                return;
            } catch (RowsBusyException e) {
                if (!free.removeAll(e.names())) {
                    throw e.failure();
                }
            }
        }
    }

    private void drop(List<ResourceName> page, IdlePolicy policy, long floor, long now) throws RowsBusyException {
        lane.transactUnlessLocked(Set.copyOf(page), ledger -> {
            for (ResourceName name : page) {
                Resource resource = ledger.resource(name);
                if (resource.isStored
                        && !ledger.isInUse(resource)
                        && resource.lastToken <= floor
                        && policy.isOver(name, resource.lastToken, now)
                        && ledger.latches().find(resource).changed < policy.rested(name, now)) {
                    ledger.forget(resource);
                }
            }
            ledger.flush();
        });
    }
}
