package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ResourceName;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a server reports unasked, on a working network. */
abstract class PushRules extends AdapterHarness {

    @Test
    @DisplayName("mail reaches the session that it is for, and nobody else")
    void mailIsDelivered() {
        OpenedSession hers = session(alice);
        OpenedSession his = session(bob);
        ResourceName name = named("mailed");
        RecordVersion first = written(alice, mailing(put(name, present(name), "one"), his, "to bob"));
        written(bob, mailing(put(name, first, "two"), hers, "to alice"));
        until("both have mail", () -> bobHears.hasMail(his, "to bob") && aliceHears.hasMail(hers, "to alice"));
        assertThat(bobHears.mail()).hasSize(1);
        assertThat(aliceHears.mail()).hasSize(1);
    }

    @Test
    @DisplayName("all mail of a session is delivered, in the order in which it was written")
    void mailKeepsItsOrder() {
        OpenedSession his = session(bob);
        ResourceName name = named("mailed");
        RecordVersion version = present(name);
        // A store may deliver long mail by other means than short mail.
        List<String> mail = IntStream.range(0, 20)
                .mapToObj(i -> "mail " + i + " and more".repeat(i % 3 == 1 ? 500 : 0))
                .toList();
        for (String text : mail) {
            version = written(alice, mailing(put(name, version, "state for " + text), his, text));
        }
        until("the last has come", () -> bobHears.hasMail(his, mail.get(19)));
        assertThat(bobHears.mail())
                .isEqualTo(mail.stream().map(text -> his.id() + ": " + text).toList());
    }

    @Test
    @DisplayName("mail comes with the version that its write gave the record, made, changed or deleted")
    void mailTellsTheVersion() {
        OpenedSession his = session(bob);
        ResourceName name = named("mailed");
        RecordVersion made = written(alice, mailing(put(name, present(name), "made"), his, "1"));
        RecordVersion changed = written(alice, mailing(put(name, made, "changed"), his, "2"));
        RecordVersion deleted = written(alice, mailing(delete(name, changed, 0), his, "3"));
        RecordVersion again = written(alice, mailing(put(name, deleted, "made again"), his, "4"));
        until("all has come", () -> bobHears.hasMail(his, "4"));
        assertThat(bobHears.records()).containsExactly(made, changed, deleted, again);
        assertThat(made.isBefore(changed)).isTrue();
        assertThat(changed.isBefore(again)).isTrue();
    }

    @Test
    @DisplayName("a write that fails delivers nothing")
    void failedWritesDeliverNothing() {
        OpenedSession his = session(bob);
        ResourceName name = named("mailed");
        RecordVersion none = present(name);
        RecordVersion made = written(alice, put(name, none, "made"));
        expectConflict(answer(alice.write(mailing(put(name, none, "late"), his, "never"))));
        written(alice, mailing(put(name, made, "changed"), his, "now"));
        until("the second has come", () -> bobHears.hasMail(his, "now"));
        assertThat(bobHears.mail()).hasSize(1);
    }

    @Test
    @DisplayName("who opened a session is told of its end, whoever closed it")
    void ownEnds() {
        OpenedSession closed = session(alice);
        answer(bob.closeSession(closed.id()));
        until("its end was told", () -> aliceHears.knowsGone(closed));
    }

    @Test
    @DisplayName("who opened a session is told that it ended by itself")
    void ownExpiry() {
        OpenedSession expired = shortSession(alice);
        until("its end was told", () -> aliceHears.knowsGone(expired));
        assertThat(lives(bob, expired.id())).isFalse();
    }

    @Test
    @DisplayName("who watches sessions of others is told of their ends, however they ended")
    void watchedEnds() {
        OpenedSession lives = session(alice);
        OpenedSession closed = session(alice);
        OpenedSession expired = shortSession(alice);
        bob.watchSessions(Set.of(lives.id(), closed.id(), expired.id()));
        answer(alice.closeSession(closed.id()));
        until("both ends were told", () -> bobHears.knowsGone(closed) && bobHears.knowsGone(expired));
        assertThat(bobHears.knowsGone(lives)).isFalse();
    }

    @Test
    @DisplayName("that a session had ended before it was watched is told too")
    void endedBeforeItIsWatched() {
        OpenedSession ended = session(alice);
        answer(alice.closeSession(ended.id()));
        bob.watchSessions(Set.of(ended.id()));
        until("its end was told", () -> bobHears.knowsGone(ended));
    }

    @Test
    @DisplayName("a set of sessions to watch takes the place of the one before")
    void watchesAreReplaced() {
        OpenedSession first = session(alice);
        OpenedSession second = session(alice);
        bob.watchSessions(Set.of(first.id()));
        bob.watchSessions(Set.of(second.id()));
        bob.watchSessions(Set.of(first.id(), second.id()));
        answer(alice.closeSession(first.id()));
        answer(alice.closeSession(second.id()));
        until("both ends were told", () -> bobHears.knowsGone(first) && bobHears.knowsGone(second));
    }
}
