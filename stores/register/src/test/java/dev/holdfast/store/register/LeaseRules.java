package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Leases, which are never renewed. */
abstract class LeaseRules extends AdapterHarness {

    @BeforeEach
    void serverKeepsLeases() {
        assumeThat(alice.traits().clock()).as("the clock").isEqualTo(RegisterTraits.Clock.REVISIONS);
    }

    @Test
    @DisplayName("a lease is a record without label, with its length and what remains of it")
    void opening() {
        OpenedSession lease = answer(alice.openLease(LONG));
        assertThat(lease.ttl()).isGreaterThanOrEqualTo(LONG);
        SessionRecord record = answer(bob.sessions(Set.of(lease.id()))).get(lease.id());
        assertThat(record.label()).isEmpty();
        assertThat(record.ttl()).isEqualTo(lease.ttl());
        assertThat(answer(bob.remaining(Set.of(lease.id()))).get(lease.id()))
                .isPositive()
                .isLessThanOrEqualTo(lease.ttl());
    }

    @Test
    @DisplayName("a lease ends when its length is over, not before, and who opened it is told")
    void expiry() {
        long asked = server().nanoTime();
        OpenedSession lease = answer(alice.openLease(alice.traits().minSessionTtl()));
        until("the lease has ended", () -> !lives(bob, lease.id()));
        assertThat(Duration.ofNanos(server().nanoTime() - asked))
                .isGreaterThanOrEqualTo(lease.ttl().minus(alice.traits().ttlGranularity()));
        until("who opened it was told", () -> aliceHears.knowsGone(lease));
    }

    @Test
    @DisplayName("a lease that is closed is gone, and who watches it is told")
    void closing() {
        OpenedSession lease = answer(alice.openLease(LONG));
        bob.watchSessions(Set.of(lease.id()));
        answer(alice.closeSession(lease.id()));
        answer(alice.closeSession(lease.id()));
        assertThat(lives(bob, lease.id())).isFalse();
        assertThat(answer(bob.remaining(Set.of(lease.id())))).isEmpty();
        until("both were told", () -> aliceHears.knowsGone(lease) && bobHears.knowsGone(lease));
    }

    @Test
    @DisplayName("a lease outlives the session of who opened it")
    void outlivesSessions() {
        OpenedSession session = session(alice);
        OpenedSession lease = answer(alice.openLease(LONG));
        answer(alice.closeSession(session.id()));
        Set<SessionId> both = Set.of(session.id(), lease.id());
        assertThat(answer(bob.sessions(both))).containsOnlyKeys(lease.id());
    }
}
