package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/** Records of a store, as tests need them. */
final class Records {

    static final Instant START = Instant.parse("2026-11-27T02:00:00Z");
    static final Duration TTL = Duration.ofSeconds(30);

    private Records() {}

    static LockInfo mutex(String name, List<LockInfo.Holder> holders, List<LockInfo.Waiter> waiters) {
        return of(name, Kind.MUTEX, holders, waiters);
    }

    static LockInfo of(String name, Kind kind, List<LockInfo.Holder> holders, List<LockInfo.Waiter> waiters) {
        return new LockInfo(
                name, kind, Order.FAIR, 1, holders, holders.size(), holders.size(), waiters, waiters.size(), 99);
    }

    static LockInfo.Holder holder(String label, long token, Duration left) {
        return holder(label, token, left, START);
    }

    static LockInfo.Holder holder(String label, long token, Duration left, Instant since) {
        return new LockInfo.Holder(
                label, "s-" + label, token, 1, token, token, since, left, Duration.ZERO, "", List.of());
    }

    /** A hold of the threads that wait. */
    static LockInfo.Holder blocked(String label, long token, LockInfo.Wait... waits) {
        return new LockInfo.Holder(label, "s-" + label, token, 1, token, token, START, TTL, TTL, "", List.of(waits));
    }

    /** A thread that has waited for 10 s and holds the lock alone. */
    static LockInfo.Wait wait(long id, String awaits, Long... acknowledged) {
        return new LockInfo.Wait(
                id, awaits, true, true, id, "thread-" + id, Duration.ofSeconds(10), Set.of(acknowledged));
    }

    static LockInfo.Waiter waiter(String label, long claim) {
        return new LockInfo.Waiter(label, "s-" + label, claim, 1, TTL, TTL, null);
    }
}
