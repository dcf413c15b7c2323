package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.register.IndexChange.Kind;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The index: the claims of each session that lives. */
abstract class IndexRules extends AdapterHarness {

    @Test
    @DisplayName("a claim is in the index from when it waits or holds until it ends")
    void lifeOfAnEntry() {
        OpenedSession session = session(alice);
        ResourceName name = named("indexed / \u00e4");
        ClaimRef waits = claim(name, session, 1);
        ClaimRef holds = claim(name, session, Long.MAX_VALUE);
        change(name, new IndexChange(waits, Kind.QUEUED), new IndexChange(holds, Kind.GRANTED));
        assertThat(answer(bob.claims(session.id())))
                .containsExactlyInAnyOrder(new IndexEntry(waits, false), new IndexEntry(holds, true));
        change(name, new IndexChange(waits, Kind.PROMOTED), new IndexChange(holds, Kind.ENDED));
        assertThat(answer(bob.claims(session.id()))).containsExactly(new IndexEntry(waits, true));
        change(name, new IndexChange(waits, Kind.REQUEUED));
        assertThat(answer(bob.claims(session.id()))).containsExactly(new IndexEntry(waits, false));
        change(name, new IndexChange(waits, Kind.ENDED));
        assertThat(answer(alice.claims(session.id()))).isEmpty();
    }

    private void change(ResourceName name, IndexChange... changes) {
        written(bob, indexing(put(name, present(name), "changed"), changes));
    }

    @Test
    @DisplayName("entries stand in the index of their own session, whatever their resource")
    void sessionsAreKeptApart() {
        OpenedSession hers = session(alice);
        OpenedSession his = session(bob);
        ResourceName first = named("first");
        ResourceName second = named("second");
        change(
                first,
                new IndexChange(claim(first, hers, 1), Kind.GRANTED),
                new IndexChange(claim(first, his, 1), Kind.QUEUED));
        change(second, new IndexChange(claim(second, hers, 2), Kind.GRANTED));
        assertThat(answer(bob.claims(hers.id())))
                .containsExactlyInAnyOrder(
                        new IndexEntry(claim(first, hers, 1), true), new IndexEntry(claim(second, hers, 2), true));
        assertThat(answer(alice.claims(his.id()))).containsExactly(new IndexEntry(claim(first, his, 1), false));
    }

    @Test
    @DisplayName("claims of one number on two resources are two")
    void numbersAreOfAResource() {
        OpenedSession session = session(alice);
        ResourceName first = named("first");
        ResourceName second = named("second");
        change(first, new IndexChange(claim(first, session, 3), Kind.GRANTED));
        change(second, new IndexChange(claim(second, session, 3), Kind.QUEUED));
        assertThat(answer(bob.claims(session.id())))
                .containsExactlyInAnyOrder(
                        new IndexEntry(claim(first, session, 3), true),
                        new IndexEntry(claim(second, session, 3), false));
        change(first, new IndexChange(claim(first, session, 3), Kind.ENDED));
        assertThat(answer(bob.claims(session.id()))).containsExactly(new IndexEntry(claim(second, session, 3), false));
    }

    @Test
    @DisplayName("a write that fails changes no entry, and a deletion of the record may end some")
    void changesAreAtomic() {
        OpenedSession session = session(alice);
        ResourceName name = named("indexed");
        RecordVersion none = present(name);
        ClaimRef claim = claim(name, session, 1);
        RecordVersion made = written(alice, indexing(put(name, none, "made"), new IndexChange(claim, Kind.GRANTED)));
        IndexChange end = new IndexChange(claim, Kind.ENDED);
        assertThat(answer(alice.write(indexing(put(name, none, "late"), end))))
                .isInstanceOf(WriteResult.Conflict.class);
        assertThat(answer(bob.claims(session.id()))).hasSize(1);
        written(alice, indexing(delete(name, made, 0), end));
        assertThat(answer(bob.claims(session.id()))).isEmpty();
    }

    @Test
    @DisplayName("an index ends with its session")
    void endsWithTheSession() {
        ResourceName name = named("indexed");
        OpenedSession closed = session(alice);
        OpenedSession expired = shortSession(alice);
        change(name, new IndexChange(claim(name, closed, 1), Kind.GRANTED));
        answer(alice.closeSession(closed.id()));
        assertThat(answer(bob.claims(closed.id()))).isEmpty();
        until("the session has ended", () -> !lives(bob, expired.id()));
        assertThat(answer(bob.claims(expired.id()))).isEmpty();
    }

    @Test
    @DisplayName("an index may be long")
    void manyEntries() {
        OpenedSession session = session(alice);
        for (int i = 1; i <= 300; i++) {
            ResourceName name = named("indexed " + i);
            written(
                    alice,
                    indexing(put(name, present(name), "made"), new IndexChange(claim(name, session, i), Kind.GRANTED)));
        }
        assertThat(answer(bob.claims(session.id()))).hasSize(300).doesNotHaveDuplicates();
    }
}
