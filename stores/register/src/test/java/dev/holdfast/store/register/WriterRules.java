package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Writes under the epochs of sessions. */
abstract class WriterRules extends AdapterHarness {

    @Test
    @DisplayName("a session may write under its epoch and a higher one")
    void writesUnderEpochs() {
        ResourceName name = named("written");
        OpenedSession session = session(alice);
        RecordVersion first = written(alice, by(put(name, present(name), "one"), session, 0));
        written(alice, by(put(name, first, "two"), session, 7));
        assertThat(answer(alice.raiseEpoch(session.id(), 3))).contains(3L);
        written(bob, by(put(name, present(name), "three"), session, 3));
        assertThat(text(name)).isEqualTo("three");
    }

    @Test
    @DisplayName("a write under an epoch below that of its session does nothing")
    void staleWritesDoNothing() {
        ResourceName name = named("stale");
        OpenedSession session = session(alice);
        RecordVersion before = written(alice, by(put(name, present(name), "before"), session, 0));
        assertThat(answer(alice.raiseEpoch(session.id(), 5))).contains(5L);
        expectRefusal(
                answer(alice.write(by(put(name, before, "late"), session, 4))), Set.of(), Map.of(session.id(), 5L));
        assertThat(present(name)).isEqualTo(before);
    }

    @Test
    @DisplayName("the highest epoch there is shuts out all others")
    void highestEpoch() {
        OpenedSession session = session(alice);
        assertThat(answer(alice.raiseEpoch(session.id(), Long.MAX_VALUE))).contains(Long.MAX_VALUE);
        ResourceName name = named("retired");
        RecordVersion none = present(name);
        expectRefusal(
                answer(alice.write(by(put(name, none, "late"), session, Long.MAX_VALUE - 1))),
                Set.of(),
                Map.of(session.id(), Long.MAX_VALUE));
        written(alice, by(put(name, none, "still"), session, Long.MAX_VALUE));
    }

    @Test
    @DisplayName(
            "no write under a lower epoch takes effect once the raise was acknowledged, though both were under way")
    void raisesShutOutWritesUnderWay() {
        OpenedSession session = session(alice);
        for (int i = 1; i <= 30; i++) {
            ResourceName name = named("raced " + i);
            CompletableFuture<WriteResult> write = alice.write(by(put(name, present(name), "raced"), session, i - 1L))
                    .toCompletableFuture();
            CompletableFuture<Optional<Long>> raise =
                    (i % 2 == 0 ? alice : bob).raiseEpoch(session.id(), i).toCompletableFuture();
            assertThat(answer(raise)).contains((long) i);
            String seen = text(name);
            assertThat(seen.equals("raced")).isEqualTo(answer(write) instanceof WriteResult.Written);
            assertThat(text(name)).isEqualTo(seen);
        }
    }

    @Test
    @DisplayName("a write of a session that has ended does nothing")
    void endedSessionsDontWrite() {
        ResourceName name = named("ended");
        OpenedSession session = session(alice);
        RecordVersion none = present(name);
        answer(bob.closeSession(session.id()));
        expectRefusal(answer(alice.write(by(put(name, none, "late"), session, 9))), Set.of(session.id()), Map.of());
        assertThat(text(name)).isEqualTo("(none)");
    }

    @Test
    @DisplayName("a write with mail for a session that has ended, or a change of its index, does nothing")
    void endedSessionsGetNothing() {
        ResourceName name = named("mailed");
        RecordVersion none = present(name);
        OpenedSession session = session(alice);
        OpenedSession ended = session(bob);
        answer(bob.closeSession(ended.id()));
        Set<SessionId> gone = Set.of(ended.id());
        ConditionalWrite write = by(put(name, none, "for whom"), session, 0);
        expectRefusal(answer(alice.write(mailing(write, ended, "hello"))), gone, Map.of());
        for (IndexChange.Kind kind : IndexChange.Kind.values()) {
            ConditionalWrite indexed = indexing(write, new IndexChange(claim(name, ended, 1), kind));
            expectRefusal(answer(alice.write(indexed)), gone, Map.of());
        }
        assertThat(text(name)).isEqualTo("(none)");
    }

    @Test
    @DisplayName("a refused write reports all ended sessions and all raised epochs, or that the record has changed")
    void allFailuresAreReported() {
        ResourceName name = named("all wrong");
        RecordVersion none = present(name);
        RecordVersion there = written(alice, put(name, none, "there"));
        OpenedSession stale = session(alice);
        OpenedSession staleToo = session(bob);
        OpenedSession ended = session(bob);
        OpenedSession endedToo = session(alice);
        answer(alice.raiseEpoch(stale.id(), 2));
        answer(bob.raiseEpoch(staleToo.id(), 3));
        answer(bob.closeSession(ended.id()));
        answer(alice.closeSession(endedToo.id()));
        Set<SessionId> gone = Set.of(ended.id(), endedToo.id());
        Map<SessionId, Long> writers = Map.of(stale.id(), 1L, staleToo.id(), 2L, ended.id(), 0L);
        expectRefusal(
                answer(alice.write(mailing(by(put(name, there, "late"), writers), endedToo, "mail"))),
                gone,
                Map.of(stale.id(), 2L, staleToo.id(), 3L));
        assertThat(answer(alice.write(mailing(by(put(name, none, "late"), writers), endedToo, "mail"))))
                .isInstanceOfSatisfying(
                        WriteResult.Refused.class,
                        refused -> assertThat(refused.present().version()).isEqualTo(there));
        expectConflict(answer(alice.write(by(put(name, none, "late"), stale, 2))));
    }

    @Test
    @DisplayName("one write may be for many sessions")
    void manySessions() {
        ResourceName name = named("shared");
        OpenedSession hers = session(alice);
        OpenedSession his = session(bob);
        ConditionalWrite write = by(put(name, present(name), "theirs"), Map.of(hers.id(), 0L, his.id(), 0L));
        written(alice, indexing(write, new IndexChange(claim(name, hers, 1), IndexChange.Kind.GRANTED)));
        assertThat(text(name)).isEqualTo("theirs");
    }

    @Test
    @DisplayName("one write may have as much mail and as many changes of the index as the traits say")
    void manyChanges() {
        ResourceName name = named("busy");
        OpenedSession session = session(bob);
        int most = Math.min(alice.traits().maxChanges(), 1_000);
        IndexChange[] changes = new IndexChange[most - 1];
        for (int i = 0; i < changes.length; i++) {
            changes[i] = new IndexChange(claim(name, session, i + 1), IndexChange.Kind.GRANTED);
        }
        ConditionalWrite write = by(put(name, present(name), "busy"), session, 0);
        written(alice, indexing(mailing(write, session, "granted"), changes));
        assertThat(claims(bob, session.id())).hasSize(changes.length);
        until("the mail has come", () -> bobHears.hasMail(session, "granted"));
    }
}
