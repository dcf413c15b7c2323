package dev.holdfast.console;

import static dev.holdfast.console.Records.START;
import static dev.holdfast.console.Records.TTL;
import static dev.holdfast.console.Records.holder;
import static dev.holdfast.console.Records.mutex;
import static dev.holdfast.console.Records.waiter;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.admin.LockInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What the console remembers of a lock")
class SeenLockTest {

    private static final LockInfo FREE = mutex("a", List.of(), List.of());

    private static Instant at(int seconds) {
        return START.plusSeconds(seconds);
    }

    private static Duration left(int seconds) {
        return Duration.ofSeconds(seconds);
    }

    @Test
    @DisplayName("is a release, if the lease was renewed until then")
    void released() {
        SeenLock lock = new SeenLock(mutex("a", List.of(holder("p", 5, left(30))), List.of()), at(0));
        lock.update(mutex("a", List.of(holder("p", 5, left(21))), List.of()), at(9));
        lock.update(mutex("a", List.of(holder("p", 5, left(29))), List.of()), at(11));
        List<SeenHold> ended = lock.update(FREE, at(12));
        assertThat(ended).singleElement().satisfies(hold -> {
            assertThat(hold.end()).isEqualTo(SeenHold.End.RELEASED);
            assertThat(hold.length()).isEqualTo(Duration.ofSeconds(12));
            assertThat(hold.token()).isEqualTo(5);
        });
        assertThat(lock.ended()).isEqualTo(ended);
    }

    @Test
    @DisplayName("is a loss, if the lease drained and had ended")
    void expired() {
        SeenLock lock = new SeenLock(mutex("a", List.of(holder("p", 5, left(30))), List.of()), at(0));
        lock.update(mutex("a", List.of(holder("p", 5, left(1))), List.of()), at(29));
        assertThat(lock.update(FREE, at(31)).get(0).end()).isEqualTo(SeenHold.End.EXPIRED);
    }

    @Test
    @DisplayName("is a release, if a lease drained but had not ended")
    void releasedInDoubt() {
        SeenLock lock = new SeenLock(mutex("a", List.of(holder("p", 5, left(30))), List.of()), at(0));
        lock.update(mutex("a", List.of(holder("p", 5, left(10))), List.of()), at(20));
        assertThat(lock.update(FREE, at(21)).get(0).end()).isEqualTo(SeenHold.End.RELEASED);
    }

    @Test
    @DisplayName("is a forced release by this console, of that hold alone")
    void forced() {
        SeenLock lock = new SeenLock(mutex("a", List.of(holder("p", 5, TTL)), List.of()), at(0));
        lock.force(5);
        assertThat(lock.update(mutex("a", List.of(holder("q", 6, TTL)), List.of()), at(1))
                        .get(0)
                        .end())
                .isEqualTo(SeenHold.End.FORCED);
        assertThat(lock.update(FREE, at(2)).get(0).end()).isEqualTo(SeenHold.End.RELEASED);
    }

    @Test
    @DisplayName("is a forced release by this console, also if another holder ends before")
    void forcedAmongOthers() {
        LockInfo.Holder p = holder("p", 5, TTL);
        LockInfo.Holder q = holder("q", 6, TTL);
        SeenLock lock = new SeenLock(mutex("a", List.of(p, q), List.of()), at(0));
        lock.force(6);
        assertThat(lock.update(mutex("a", List.of(q), List.of()), at(1)).get(0).end())
                .isEqualTo(SeenHold.End.RELEASED);
        assertThat(lock.update(FREE, at(2)).get(0).end()).isEqualTo(SeenHold.End.FORCED);
    }

    @Test
    @DisplayName("is nothing of an interval in which it was not read")
    void gap() {
        SeenLock lock = new SeenLock(mutex("a", List.of(holder("p", 5, left(1))), List.of(waiter("q", 7))), at(0));
        assertThat(lock.update(FREE, at(3_600))).isEmpty();
        assertThat(lock.ended()).isEmpty();
        assertThat(lock.heat(at(3_600))).containsOnly(0L);
    }

    @Test
    @DisplayName("has the hand-overs inside of a process, as one hold")
    void handOvers() {
        SeenLock lock = new SeenLock(
                mutex(
                        "a",
                        List.of(new LockInfo.Holder("p", "s", 1, 1, 5, 9, START, TTL, TTL, "", List.of())),
                        List.of()),
                at(0));
        lock.update(
                mutex(
                        "a",
                        List.of(new LockInfo.Holder("p", "s", 1, 1, 10, 14, START, TTL, TTL, "", List.of())),
                        List.of()),
                at(1));
        assertThat(lock.ended()).isEmpty();
        assertThat(lock.update(FREE, at(2)).get(0).handOvers()).isEqualTo(1);
    }

    @Test
    @DisplayName("has how long each hold was waited for, and the seconds of all waits by the minute")
    void waits() {
        LockInfo first = mutex("a", List.of(holder("p", 1, TTL)), List.of(waiter("q", 2), waiter("r", 3)));
        SeenLock lock = new SeenLock(first, at(0));
        for (int second = 1; second <= 90; second++) {
            lock.update(first, at(second));
        }
        assertThat(lock.waitedSince()).isEqualTo(at(0));
        assertThat(lock.heat(at(90)).subList(10, 12)).containsExactly(118L, 62L);
        lock.update(mutex("a", List.of(holder("q", 2, TTL, at(91))), List.of(waiter("r", 3))), at(91));
        assertThat(lock.waited(lock.info().holders().get(0))).isEqualTo(Duration.ofSeconds(91));
    }

    @Test
    @DisplayName("shows the usual hold, from three on, and keeps fifty")
    void usual() {
        SeenLock lock = new SeenLock(FREE, at(0));
        for (int i = 1; i <= 60; i++) {
            lock.update(mutex("a", List.of(holder("p", i, TTL, at(10 * i))), List.of()), at(10 * i));
            lock.update(FREE, at(10 * i + 4));
            assertThat(lock.usual()).isEqualTo(i < 3 ? null : Duration.ofSeconds(4));
        }
        assertThat(lock.ended()).hasSize(SeenLock.MAX_HOLDS);
        lock.keepHolds(5);
        assertThat(lock.ended()).extracting(SeenHold::token).containsExactly(56L, 57L, 58L, 59L, 60L);
    }

    @Test
    @DisplayName("is that a lease is renewed only after it was extended, and drains if it was not for a third")
    void leases() {
        SeenLease lease = new SeenLease();
        lease.read(left(28), Duration.ZERO, at(0));
        assertThat(lease.state()).isEqualTo(SeenLease.State.UNKNOWN);
        lease.read(left(30), Duration.ZERO, at(1));
        assertThat(lease.state()).isEqualTo(SeenLease.State.RENEWED);
        lease.read(left(19), Duration.ZERO, at(12));
        assertThat(lease.state()).isEqualTo(SeenLease.State.RENEWED);
        lease.read(left(18), Duration.ZERO, at(13));
        assertThat(lease.state()).isEqualTo(SeenLease.State.DRAINING);
        assertThat(lease.left(at(15))).isEqualTo(left(16));
        assertThat(lease.silence(at(15))).isEqualTo(left(14));
        lease.read(left(30), Duration.ZERO, at(16));
        assertThat(lease.state()).isEqualTo(SeenLease.State.RENEWED);
    }

    @Test
    @DisplayName("is at once that a lease is renewed, where the store reports the ttl of the session")
    void leasesWithTtl() {
        SeenLease lease = new SeenLease();
        lease.read(left(21), TTL, at(0));
        assertThat(lease.state()).isEqualTo(SeenLease.State.RENEWED);
        assertThat(lease.silence(at(0))).isEqualTo(left(9));
        lease.read(left(18), TTL, at(3));
        assertThat(lease.state()).isEqualTo(SeenLease.State.DRAINING);
    }

    @Test
    @DisplayName("is not that a session is silent because a hold has a short or a long lease that is fixed")
    void fixedLeases() {
        for (int length : List.of(10, 600, 3_600)) {
            SeenLease lease = new SeenLease();
            lease.read(left(length), TTL, at(0));
            assertThat(lease.state()).isEqualTo(SeenLease.State.UNKNOWN);
            Duration rest = left(Math.min(length, 25));
            lease.read(rest, TTL, at(length).minus(rest));
            assertThat(lease.state()).isEqualTo(SeenLease.State.UNKNOWN);
            lease.read(left(1), TTL, at(length - 1));
            assertThat(lease.state()).isEqualTo(SeenLease.State.UNKNOWN);
        }
    }
}
