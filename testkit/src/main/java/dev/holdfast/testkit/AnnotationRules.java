package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Annotate;
import dev.holdfast.spi.Command.Inspect.Scope;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreTraits.Admission;
import dev.holdfast.spi.StoreTraits.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** V: what the store reports about waiters, and what clients add to their grants. */
@Tag("V")
abstract class AnnotationRules extends ConformanceRules {

    @Test
    @DisplayName(
            "V9: an inspection of the names that are waited for names each of them once, page by page, and no other")
    void waitedNamesAreListed() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        List<String> waited = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            alice.mutex("stock/" + i).expectGranted();
            if (i % 3 == 0) {
                bob.mutex("stock/" + i).expectQueued();
                waited.add("stock/" + i);
            }
        }
        alice.mutex("order").expectGranted();
        bob.mutex("order").expectQueued();
        boolean isKnown = fixture.traits.has(Feature.KNOWN_WAITERS);
        for (int limit : new int[] {1, 2, 100}) {
            assertThat(waited("stock/", limit)).containsExactlyInAnyOrderElementsOf(isKnown ? waited : List.of());
        }
        bob.close();
        assertThat(waited("", 100)).isEmpty();
    }

    private List<String> waited(String prefix, int limit) {
        List<String> names = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            Reply.Inspected page = ConformanceFixture.send(
                    fixture.first, new Command.Inspect(prefix, cursor, limit, Scope.WAITED), Reply.Inspected.class);
            assertThat(page.resources())
                    .hasSizeLessThanOrEqualTo(limit)
                    .allSatisfy(info -> assertThat(info.waiting()).isPositive());
            page.resources().forEach(info -> names.add(info.name().value()));
            cursor = page.cursor();
        } while (cursor.isPresent());
        return names;
    }

    @Test
    @DisplayName("V10: an inspection tells how long each waiter has been in the queue, whether it is polled or not")
    void waitersTellHowLongTheyWait() {
        ConformanceFixture.needs(fixture.traits.has(Feature.KNOWN_WAITERS), "the store does not know its waiters");
        TestClient alice = fixture.client("alice");
        long before = System.nanoTime();
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe waits = alice.mutex("ledger").expectQueued();
        Probe leased =
                alice.mutex("ledger").with(Lease.bounded(Duration.ofMinutes(1))).expectQueued();
        if (fixture.hasClock()) {
            fixture.pass(Duration.ofSeconds(5));
        }
        waits.expectWaiting();
        Duration grown = fixture.hasClock() ? Duration.ofSeconds(5) : Duration.ofMillis(5);
        fixture.soon(
                "both have waited for that long",
                () -> waiting(holder).stream()
                        .allMatch(party -> party.waited().orElse(Duration.ZERO).compareTo(grown) >= 0));
        List<Party> parties = waiting(holder);
        assertThat(parties).extracting(Party::claim).containsExactly(waits.ref(), leased.ref());
        // A server's clock may step a little between two commands.
        Duration most = fixture.hasClock()
                ? grown
                : Duration.ofNanos(System.nanoTime() - before).plus(Duration.ofMillis(100));
        assertThat(parties)
                .allSatisfy(party -> assertThat(party.waited().orElseThrow()).isLessThanOrEqualTo(most));
        assertThat(partyOf(holder).waited()).as("a holder does not wait").isEmpty();
        holder.release();
        waits.expectHeld();
        assertThat(partyOf(waits).waited()).as("it holds now").isEmpty();
    }

    @Test
    @DisplayName("V11: an inspection tells the ttl of each session that holds or waits")
    void sessionsTellTheirTtl() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.shortLived("bob");
        Probe one = alice.mutex("one").expectGranted();
        Probe two = bob.mutex("two").expectGranted();
        bob.mutex("one").expectQueued();
        assertThat(partyOf(one).ttl()).isEqualTo(alice.ttl);
        assertThat(partyOf(two).ttl()).isEqualTo(bob.ttl);
        assertThat(waiting(one)).allSatisfy(party -> assertThat(party.ttl()).isEqualTo(bob.ttl));
    }

    @Test
    @DisplayName(
            "V12: an annotation is shown with its grant as it was given, and replaced only by one of a greater number")
    void annotationsAreShown() {
        needsAnnotations();
        TestClient alice = fixture.client("alice");
        Probe one = alice.mutex("one").expectGranted();
        Probe two = alice.mutex("two").expectGranted();
        assertThat(partyOf(one).annotation()).isEmpty();
        annotate(one, 3, "release 4.2, requested by CI job 812");
        assertThat(partyOf(one).annotation()).isEqualTo("release 4.2, requested by CI job 812");
        assertThat(partyOf(two).annotation()).isEmpty();
        annotate(one, 2, "late");
        annotate(one, 3, "repeated");
        assertThat(partyOf(one).message()).isEqualTo("release 4.2, requested by CI job 812");
        String odd = "<b>\u202e'\"\\ \u0007\r\n\nÜnïcode \ud83d\ude00\n" + "ß".repeat(1_000);
        annotate(one, 4, odd);
        assertThat(partyOf(one).annotation()).isEqualTo(odd);
        annotate(one, 7, "");
        assertThat(partyOf(one).annotation()).isEmpty();
        annotate(one, 5, "late");
        assertThat(partyOf(one).annotation()).as("after it was removed").isEmpty();
        annotate(one, 8, "x".repeat(Annotate.MAX_TEXT_BYTES));
        assertThat(partyOf(one).annotation()).hasSize(Annotate.MAX_TEXT_BYTES);
        one.expectHeld();
    }

    @Test
    @DisplayName("V13: an annotation ends with its grant, however that ends, and no later grant has it")
    void annotationsEndWithTheirGrants() {
        needsAnnotations();
        TestClient alice = fixture.client("alice");
        Probe released = annotated(alice.mutex("released").expectGranted());
        alice.send(new Command.Release(released.ref(), true), Reply.Released.class);
        assertThat(partyOf(alice.mutex("released").expectGranted()).annotation())
                .isEmpty();
        Probe withdrawn = annotated(alice.mutex("withdrawn").expectGranted());
        withdrawn.withdraw();
        assertThat(partyOf(alice.mutex("withdrawn").expectGranted()).annotation())
                .isEmpty();
        Probe forced = annotated(alice.mutex("forced").expectGranted());
        alice.send(
                new Command.ForceRelease(forced.ref().resource(), forced.block().last()), Reply.Released.class);
        assertThat(partyOf(alice.mutex("forced").expectGranted()).annotation()).isEmpty();
        Probe yielded = annotated(alice.mutex("yielded").expectGranted());
        Probe next = alice.mutex("yielded");
        alice.send(new Command.Yield(yielded.ref(), next.command(), true), fixture.yieldedAlone());
        fixture.soon("it holds again", next::holds);
        assertThat(partyOf(next).annotation()).isEmpty();
        annotate(next, 1, "its own");
        assertThat(partyOf(next).annotation()).isEqualTo("its own");
        TestClient leaves = fixture.client("leaves");
        annotate(leaves.mutex("left").expectGranted(), 1, "annotated");
        leaves.close();
        assertThat(partyOf(alice.mutex("left").expectGranted()).annotation()).isEmpty();
    }

    @Test
    @DisplayName("V13: an annotation stays while its grant changes")
    void annotationsStay() {
        needsAnnotations();
        fixture.needsAdmission(Admission.COUNTED);
        Probe holder = annotated(fixture.client("alice").permits("gpu", 3, 4).expectGranted());
        holder.client().send(new Command.ShrinkTo(holder.ref(), 1), Reply.Done.class);
        if (fixture.traits.has(Feature.ADVANCE)) {
            holder.client()
                    .send(new Command.Advance(holder.ref(), holder.block().last(), 4, 0), Reply.Advanced.class);
        }
        assertThat(partyOf(holder).annotation()).isEqualTo("annotated");
        Probe second = annotated(fixture.other("bob").permits("gpu", 1, 4).expectGranted());
        holder.release();
        assertThat(partyOf(second).annotation()).isEqualTo("annotated");
    }

    @Test
    @DisplayName("V14: what waits, has ended or never was can't be annotated, and is told so")
    void onlyGrantsAreAnnotated() {
        needsAnnotations();
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe waits = alice.mutex("ledger").expectQueued();
        alice.send(new Annotate(waits.ref(), 1, "waits"), Reply.Absent.class);
        alice.send(new Annotate(alice.mutex("ledger").ref(), 1, "never"), Reply.Absent.class);
        holder.release();
        alice.send(new Annotate(holder.ref(), 1, "ended"), Reply.Absent.class);
        waits.expectHeld();
        assertThat(partyOf(waits).annotation()).isEmpty();
        TestClient dies = fixture.shortLived("dies");
        Probe dead = dies.mutex("dead").expectGranted();
        fixture.until("its session has ended", dead::isOver);
        dies.send(new Annotate(dead.ref(), 1, "dead"), Reply.Absent.class);
    }

    @Test
    @DisplayName("V15: a store without annotations says so")
    void annotationsAreRejected() {
        ConformanceFixture.needs(!fixture.traits.has(Feature.ANNOTATIONS), "the store has annotations");
        Probe holder = fixture.client("alice").mutex("ledger").expectGranted();
        holder.client().send(new Annotate(holder.ref(), 1, "text"), Reply.Unsupported.class);
        holder.expectHeld();
    }

    @Test
    @DisplayName("V16: the ten runs of a task with the greatest tokens are kept, each once, and no name has those of"
            + " another")
    void newestRunsAreKept() {
        ConformanceFixture.needs(fixture.traits.has(Feature.RUNS), "the store keeps no runs");
        TestClient alice = fixture.client("alice");
        assertThat(runs(fixture.second, "report")).isEmpty();
        Probe running = alice.mutex("report").expectGranted();
        for (long token : new long[] {9_007_199_254_740_000L, 3, 5, 4, 12, 6, 7, 8, 9, 10, 11, 2}) {
            record(alice, "report", token, "run " + token);
        }
        String odd = "1 <b>\u202e'\"\\ \u0007\r\n\tÜnïcode \ud83d\ude00 " + "ß".repeat(400);
        record(alice, "report", 7, odd);
        record(alice, "report/2", 1, "another");
        running.release();
        alice.close();
        for (LockStore store : List.of(fixture.first, fixture.second)) {
            assertThat(runs(store, "report"))
                    .extracting(Reply.Runs.Run::token)
                    .containsExactly(9_007_199_254_740_000L, 12L, 11L, 10L, 9L, 8L, 7L, 6L, 5L, 4L);
            assertThat(runs(store, "report").get(6).text()).isEqualTo(odd);
            assertThat(runs(store, "report").get(1).text()).isEqualTo("run 12");
            assertThat(runs(store, "report/2")).containsExactly(new Reply.Runs.Run(1, "another"));
        }
        assertThat(fixture.inspect("")).as("what is in use").isEmpty();
    }

    @Test
    @DisplayName("V15: a store that keeps no runs says so")
    void runsAreRejected() {
        ConformanceFixture.needs(!fixture.traits.has(Feature.RUNS), "the store keeps runs");
        TestClient alice = fixture.client("alice");
        ResourceName name = new ResourceName("report");
        alice.send(new Command.RecordRun(name, 1, "run"), Reply.Unsupported.class);
        alice.send(new Command.ListRuns(name), Reply.Unsupported.class);
    }

    private static void record(TestClient client, String name, long token, String text) {
        client.send(new Command.RecordRun(new ResourceName(name), token, text), Reply.Done.class);
    }

    private static List<Reply.Runs.Run> runs(LockStore store, String name) {
        Command list = new Command.ListRuns(new ResourceName(name));
        return ConformanceFixture.send(store, list, Reply.Runs.class).runs();
    }

    private void needsAnnotations() {
        ConformanceFixture.needs(fixture.traits.has(Feature.ANNOTATIONS), "the store has no annotations");
    }

    private static void annotate(Probe grant, long seq, String text) {
        grant.client().send(new Annotate(grant.ref(), seq, text), Reply.Done.class);
    }

    private static Probe annotated(Probe grant) {
        annotate(grant, 1, "annotated");
        return grant;
    }

    private Party partyOf(Probe holder) {
        ResourceInfo info = fixture.info(holder.ref().resource());
        return info.holders().stream()
                .filter(party -> party.claim().equals(holder.ref()))
                .findFirst()
                .orElseThrow(() -> new AssertionError("The grant " + holder.ref() + " is missing in " + info));
    }

    private List<Party> waiting(Probe holder) {
        return fixture.info(holder.ref().resource()).waiters();
    }
}
