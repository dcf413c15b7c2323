package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.ledger.table.ClaimRows;
import dev.holdfast.store.ledger.table.ResourceRow;
import dev.holdfast.store.ledger.table.Rows;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Removes resources that were unused for long, in runs of {@link ServerHousekeeping}.
 *
 * <p>A resource is dropped in two runs, so that no statement that began before the token floor was raised can insert it
 * again with lower tokens: the first run raises the floor above the tokens of all unused resources, and the next one
 * drops those still below it. The second run is at least a minute later; it does not matter which client makes it.
 */
final class ResourceCleanup {

    /** How many names are read, and dropped if possible, at a time: a few milliseconds of work. */
    private static final int SCANNED = 500;

    private final ServerLane lane;

    ResourceCleanup(ServerLane lane) {
        this.lane = lane;
    }

    /**
     * Drops resources that were unused for as long as the policy says and were below the floor before.
     *
     * @param renewLease renews the lease after each page; false ends the run
     * @return whether the run is complete
     */
    boolean dropIdle(IdlePolicy policy, BooleanSupplier renewLease) {
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
            long begin = SystemClock.nanoTime();
            lane.transact(Set.of(), ledger -> {
                page.clear();
                page.addAll(ledger.rows().names(after[0], SCANNED));
            });
            dropOver(page, policy, floor[0], now[0]);
            if (!renewLease.getAsBoolean()) {
                return false;
            }
            if (page.size() < SCANNED) {
                return true;
            }
            after[0] = page.get(page.size() - 1).name().utf8();
            // Commands come first: leave them at least as much time.
            LockSupport.parkNanos(SystemClock.nanoTime() - begin);
        }
    }

    /** Drops resources that were unused for long: simple ones together, the others one by one. */
    private void dropOver(List<Rows.Resting> page, IdlePolicy policy, long floor, long now) {
        List<Rows.Resting> over = page.stream()
                .filter(one -> one.lastToken() <= floor && policy.isOver(one.name(), one.lastToken(), now))
                .toList();
        List<ResourceName> idle = over.stream().map(Rows.Resting::name).toList();
        Set<ResourceName> left = new LinkedHashSet<>(idle);
        if (!over.isEmpty()) {
            left.removeAll(lane.drop(
                    idle, over.stream().mapToLong(Rows.Resting::lastToken).max().orElse(0)));
        }
        // Always visit resources with claims, because these may be dead.
        page.stream().filter(Rows.Resting::hasClaims).map(Rows.Resting::name).forEach(left::add);
        List<ResourceName> rest = List.copyOf(left);
        for (int from = 0; from < rest.size(); from += ServerHousekeeping.PAGE) {
            unlessLocked(
                    rest.subList(from, Math.min(rest.size(), from + ServerHousekeeping.PAGE)),
                    free -> drop(free, policy, floor, now));
        }
    }

    /**
     * Drops claims of ended sessions on resources whose rows were deleted by hand; for each session, those on one
     * resource in each run.
     */
    boolean dropUncounted(BooleanSupplier renewLease) {
        List<Rows.Uncounted> page = new ArrayList<>();
        do {
            long after = page.isEmpty() ? 0 : page.get(page.size() - 1).session();
            lane.transact(Set.of(), ledger -> {
                page.clear();
                page.addAll(ledger.rows().uncounted(after, ServerHousekeeping.PAGE));
            });
            List<ResourceName> names = page.stream()
                    .map(Rows.Uncounted::name)
                    .filter(Objects::nonNull)
                    .distinct()
                    .toList();
            if (!names.isEmpty()) {
                unlessLocked(names, this::dropUncounted);
            }
            if (!renewLease.getAsBoolean()) {
                return false;
            }
        } while (page.size() == ServerHousekeeping.PAGE);
        return true;
    }

    /** Inserts a row for each resource, because only its lock keeps others from adding claims meanwhile. */
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

    /** Does the work for the resources whose rows are not locked; the others are left for the next run. */
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
                ResourceRow resource = ledger.resource(name);
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
