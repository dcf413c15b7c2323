package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.register.IndexChange.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The index: the claims of each session that lives. */
abstract class IndexRules extends AdapterHarness {

    /** For a page of the index, with some that clients send by themselves meanwhile. */
    private static final long MOST_REQUESTS = 12;

    @Test
    @DisplayName("a claim is in the index from when it waits or holds until it ends")
    void lifeOfAnEntry() {
        OpenedSession session = session(alice);
        ResourceName name = named("indexed / \u00e4");
        ClaimRef waits = claim(name, session, 1);
        ClaimRef holds = claim(name, session, Long.MAX_VALUE);
        change(name, new IndexChange(waits, Kind.QUEUED), new IndexChange(holds, Kind.GRANTED));
        assertThat(claims(bob, session.id()))
                .containsExactlyInAnyOrder(new IndexEntry(waits, false), new IndexEntry(holds, true));
        change(name, new IndexChange(waits, Kind.PROMOTED), new IndexChange(holds, Kind.RELEASED));
        assertThat(claims(bob, session.id())).containsExactly(new IndexEntry(waits, true));
        change(name, new IndexChange(waits, Kind.REQUEUED));
        assertThat(claims(bob, session.id())).containsExactly(new IndexEntry(waits, false));
        change(name, new IndexChange(waits, Kind.WITHDRAWN));
        assertThat(claims(alice, session.id())).isEmpty();
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
        assertThat(claims(bob, hers.id()))
                .containsExactlyInAnyOrder(
                        new IndexEntry(claim(first, hers, 1), true), new IndexEntry(claim(second, hers, 2), true));
        assertThat(claims(alice, his.id())).containsExactly(new IndexEntry(claim(first, his, 1), false));
    }

    @Test
    @DisplayName("claims of one number on two resources are two")
    void numbersAreOfAResource() {
        OpenedSession session = session(alice);
        ResourceName first = named("first");
        ResourceName second = named("second");
        change(first, new IndexChange(claim(first, session, 3), Kind.GRANTED));
        change(second, new IndexChange(claim(second, session, 3), Kind.QUEUED));
        assertThat(claims(bob, session.id()))
                .containsExactlyInAnyOrder(
                        new IndexEntry(claim(first, session, 3), true),
                        new IndexEntry(claim(second, session, 3), false));
        change(first, new IndexChange(claim(first, session, 3), Kind.RELEASED));
        assertThat(claims(bob, session.id())).containsExactly(new IndexEntry(claim(second, session, 3), false));
    }

    @Test
    @DisplayName("a write that fails changes no entry, and a deletion of the record may end some")
    void changesAreAtomic() {
        OpenedSession session = session(alice);
        ResourceName name = named("indexed");
        RecordVersion none = present(name);
        ClaimRef claim = claim(name, session, 1);
        RecordVersion made = written(alice, indexing(put(name, none, "made"), new IndexChange(claim, Kind.GRANTED)));
        IndexChange end = new IndexChange(claim, Kind.RELEASED);
        expectConflict(answer(alice.write(indexing(put(name, none, "late"), end))));
        assertThat(claims(bob, session.id())).hasSize(1);
        written(alice, indexing(delete(name, made, 0), end));
        assertThat(claims(bob, session.id())).isEmpty();
    }

    @Test
    @DisplayName("an index ends with its session")
    void endsWithTheSession() {
        ResourceName name = named("indexed");
        OpenedSession closed = session(alice);
        OpenedSession expired = shortSession(alice);
        change(name, new IndexChange(claim(name, closed, 1), Kind.GRANTED));
        answer(alice.closeSession(closed.id()));
        assertThat(claims(bob, closed.id())).isEmpty();
        until("the session has ended", () -> !lives(bob, expired.id()));
        assertThat(claims(bob, expired.id())).isEmpty();
    }

    @Test
    @DisplayName("an entry stays when the client leaves that wrote it, as long as the session of its claim lives")
    void outlivesItsWriter() throws Exception {
        OpenedSession session = session(alice);
        ResourceName name = named("indexed");
        ClaimRef waits = claim(name, session, 1);
        ClaimRef holds = claim(name, session, 2);
        RegisterAdapter carol = server().connectBriefly();
        carol.listen(new Inbox());
        OpenedSession hers = shortSession(carol);
        RecordVersion made = written(
                carol,
                indexing(
                        put(name, present(name), "made"),
                        new IndexChange(waits, Kind.QUEUED),
                        new IndexChange(holds, Kind.GRANTED)));
        written(carol, indexing(put(name, made, "changed"), new IndexChange(waits, Kind.PROMOTED)));
        carol.close();
        until("the writer is gone", () -> !lives(bob, hers.id()));
        assertThat(claims(bob, session.id()))
                .containsExactlyInAnyOrder(new IndexEntry(waits, true), new IndexEntry(holds, true));
    }

    @Test
    @DisplayName("an index may be long, and be read in pages of any size")
    void manyEntries() {
        OpenedSession session = session(alice);
        ResourceName name = named("indexed / \u00e4");
        index(name, session, 1, 301);
        for (int limit : new int[] {1, 7, 300, 301}) {
            assertThat(claims(bob, session.id(), limit))
                    .hasSize(300)
                    .doesNotHaveDuplicates()
                    .allMatch(IndexEntry::isHeld);
        }
    }

    /** Makes the entries of some claims that hold. */
    private void index(ResourceName name, OpenedSession session, int from, int to) {
        int most = alice.traits().maxChanges() / 2;
        RecordVersion version = present(name);
        for (int first = from; first < to; first += most) {
            IndexChange[] changes = IntStream.range(first, Math.min(to, first + most))
                    .mapToObj(i -> new IndexChange(claim(name, session, i), Kind.GRANTED))
                    .toArray(IndexChange[]::new);
            version = written(alice, indexing(put(name, version, "made"), changes));
        }
    }

    @Test
    @DisplayName("an entry that stays is on one page, whatever becomes of others and of its state")
    void pagesAreStable() {
        OpenedSession session = session(alice);
        ResourceName name = named("indexed");
        index(name, session, 1, 41);
        List<IndexEntry> found = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        for (int number = 1; number == 1 || cursor.isPresent(); number++) {
            IndexPage page = answer(bob.claims(session.id(), cursor, 2)).orElseThrow();
            found.addAll(page.entries());
            cursor = page.cursor();
            if (number <= 10) {
                change(
                        name,
                        new IndexChange(claim(name, session, number), Kind.RELEASED),
                        new IndexChange(claim(name, session, number + 10), Kind.REQUEUED),
                        new IndexChange(claim(name, session, number + 40), Kind.QUEUED));
            }
        }
        List<ClaimRef> stayed = LongStream.range(11, 41)
                .mapToObj(number -> claim(name, session, number))
                .toList();
        assertThat(found).extracting(IndexEntry::claim).doesNotHaveDuplicates().containsAll(stayed);
    }

    @Test
    @DisplayName("a page costs a constant number of requests, whatever the number of entries")
    void pagesAreCheap() {
        OpenedSession session = session(alice);
        index(named("indexed"), session, 1, 2_001);
        long before = server().requests();
        IndexPage all =
                answer(bob.claims(session.id(), Optional.empty(), 10_000)).orElseThrow();
        assertThat(server().requests() - before).as("requests for a page").isBetween(1L, MOST_REQUESTS);
        assertThat(all.entries()).hasSize(2_000);
        assertThat(all.cursor()).isEmpty();
    }
}
