package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Sessions: how they begin, live and end. */
abstract class SessionRules extends AdapterHarness {

    private static final Duration IMPATIENT = Duration.ofSeconds(10);

    @Test
    @DisplayName("a new session has an id of its own, epoch 0 and at least the ttl that was asked for")
    void opening() {
        Duration asked = alice.traits().minSessionTtl().plusMillis(1);
        Set<SessionId> ids = new HashSet<>();
        for (int i = 0; i < 5; i++) {
            OpenedSession session = answer(alice.openSession(asked, "worker " + i + " \u00e4"));
            assertThat(ids.add(session.id())).isTrue();
            assertThat(session.ttl()).isGreaterThanOrEqualTo(asked);
        }
        OpenedSession session = answer(alice.openSession(longTtl(), "worker \u00e4"));
        assertThat(answer(bob.sessions(Set.of(session.id()))))
                .isEqualTo(Map.of(session.id(), new SessionRecord(0, "worker \u00e4", session.ttl())));
    }

    @Test
    @DisplayName("of sessions that are asked about, those are told that live")
    void whoLives() {
        OpenedSession first = session(alice);
        OpenedSession second = session(bob);
        OpenedSession ended = session(alice);
        answer(alice.closeSession(ended.id()));
        Set<SessionId> all = Set.of(first.id(), second.id(), ended.id());
        assertThat(answer(bob.sessions(all))).containsOnlyKeys(first.id(), second.id());
        assertThat(answer(bob.remaining(all))).containsOnlyKeys(first.id(), second.id());
        assertThat(answer(bob.sessions(Set.of()))).isEmpty();
    }

    @Test
    @DisplayName("a keep-alive is told the epoch, and one under a lower epoch too")
    void keepAlives() {
        OpenedSession session = session(alice);
        assertThat(answer(alice.keepAlive(session.id(), 0, IMPATIENT))).contains(0L);
        assertThat(answer(alice.raiseEpoch(session.id(), 4))).contains(4L);
        assertThat(answer(alice.keepAlive(session.id(), 4, IMPATIENT))).contains(4L);
        assertThat(answer(alice.keepAlive(session.id(), 3, IMPATIENT))).contains(4L);
    }

    @Test
    @DisplayName("an epoch only rises")
    void epochs() {
        OpenedSession session = session(alice);
        assertThat(answer(alice.raiseEpoch(session.id(), 6))).contains(6L);
        assertThat(answer(alice.raiseEpoch(session.id(), 6))).contains(6L);
        assertThat(answer(bob.raiseEpoch(session.id(), 2))).contains(6L);
        assertThat(answer(bob.sessions(Set.of(session.id()))).get(session.id()))
                .isEqualTo(new SessionRecord(6, "a session of " + prefix, session.ttl()));
    }

    @Test
    @DisplayName("a session that was closed is gone for good, and may be closed again")
    void closing() {
        OpenedSession session = session(alice);
        answer(bob.closeSession(session.id()));
        answer(alice.closeSession(session.id()));
        assertThat(lives(alice, session.id())).isFalse();
        assertThat(answer(alice.keepAlive(session.id(), 0, IMPATIENT))).isEqualTo(Optional.empty());
        assertThat(answer(alice.raiseEpoch(session.id(), 1))).isEqualTo(Optional.empty());
        assertThat(claims(bob, session.id())).isEmpty();
    }

    @Test
    @DisplayName("a session that is not renewed ends by itself, and not before its ttl is over")
    void expiry() {
        long asked = server().nanoTime();
        OpenedSession session = shortSession(alice);
        until("the session has ended", () -> !lives(bob, session.id()));
        Duration lived = Duration.ofNanos(server().nanoTime() - asked);
        assertThat(lived)
                .isGreaterThanOrEqualTo(session.ttl().minus(alice.traits().ttlGranularity()));
        assertThat(answer(alice.keepAlive(session.id(), 0, IMPATIENT))).isEqualTo(Optional.empty());
    }

    @Test
    @DisplayName("a keep-alive gives a session its whole ttl again; a stale one gives it nothing")
    void renewal() {
        Duration longest = alice.traits().maxSessionTtl();
        OpenedSession session =
                answer(alice.openSession(longest.compareTo(PATIENCE) < 0 ? longest : PATIENCE, "is renewed"));
        Duration used = session.ttl().minus(alice.traits().ttlGranularity()).minusMillis(1);
        until("some of its time has gone by", () -> left(session).compareTo(used) < 0);
        assertThat(answer(alice.raiseEpoch(session.id(), 1))).contains(1L);
        assertThat(answer(alice.keepAlive(session.id(), 0, IMPATIENT))).contains(1L);
        assertThat(left(session)).isLessThan(used);
        until("a keep-alive has renewed it", () -> {
            assertThat(answer(alice.keepAlive(session.id(), 1, IMPATIENT))).contains(1L);
            return left(session).compareTo(used) >= 0;
        });
    }

    private Duration left(OpenedSession session) {
        return answer(bob.remaining(Set.of(session.id()))).get(session.id());
    }

    @Test
    @DisplayName("what is told to remain is never more than there is")
    void remaining() {
        OpenedSession session = session(alice);
        long opened = server().nanoTime();
        until("a second has gone by", () -> server().nanoTime() - opened > 1_000_000_000);
        Duration gone = Duration.ofNanos(server().nanoTime() - opened);
        assertThat(left(session)).isPositive().isLessThanOrEqualTo(session.ttl().minus(gone));
    }

    @Test
    @DisplayName("a portable session may be renewed and closed through another connection")
    void portability() {
        assumeThat(alice.traits().portableSessions()).isTrue();
        OpenedSession session = session(alice);
        alice.close();
        assertThat(answer(bob.keepAlive(session.id(), 0, IMPATIENT))).contains(0L);
        assertThat(answer(bob.raiseEpoch(session.id(), 1))).contains(1L);
        answer(bob.closeSession(session.id()));
        assertThat(lives(bob, session.id())).isFalse();
    }
}
