package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.DamagedRecord;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits.Admission;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.StoreTraits.FixedLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** V: what the store reports about itself. */
@Tag("V")
abstract class ViewRules extends ConformanceRules {

    /** More claims than a store must report for one name. */
    private static final int MANY = 120;

    @Test
    @DisplayName("V1: an inspection names every resource in use once, page by page")
    void inspectionIsComplete() {
        TestClient alice = fixture.client("alice");
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 23; i++) {
            names.add("job-" + i);
            alice.mutex("job-" + i).expectGranted();
        }
        alice.mutex("idle").expectGranted().release();
        for (int limit : new int[] {1, 5, 23, 1_000}) {
            assertThat(pages("", limit)).containsExactlyInAnyOrderElementsOf(names);
        }
    }

    @Test
    @DisplayName("V1: an inspection goes by the order of the bytes of the names")
    void inspectionIsOrdered() {
        ConformanceFixture.needs(fixture.traits.has(Feature.ORDERED_INSPECTION), "the store inspects in no order");
        TestClient alice = fixture.client("alice");
        // U+FF5E sorts after the emoji in UTF-16, and before it in UTF-8.
        List<String> names = List.of("b", "a", "B", "a/b", "a b", "é", "z", "😀", "～", "aa", "10", "9");
        names.forEach(name -> alice.mutex(name).expectGranted());
        List<String> ordered = Stream.of("10", "9", "B", "a", "a b", "a/b", "aa", "b", "z", "é", "～", "😀")
                .toList();
        for (int limit : new int[] {1, 3, 100}) {
            assertThat(pages("", limit)).containsExactlyElementsOf(ordered);
        }
    }

    @Test
    @DisplayName("V1: resources that stay in use are named once, whatever comes and goes between the pages")
    void inspectionIsStable() {
        ConformanceFixture.needs(fixture.traits.has(Feature.ORDERED_INSPECTION), "the store inspects in no order");
        TestClient alice = fixture.client("alice");
        Probe b = alice.mutex("b").expectGranted();
        List.of("a", "c", "d", "f").forEach(name -> alice.mutex(name).expectGranted());
        Reply.Inspected first = alice.send(new Command.Inspect("", Optional.empty(), 2), Reply.Inspected.class);
        assertThat(first.resources()).extracting(info -> info.name().value()).containsExactly("a", "b");
        b.release();
        alice.mutex("aa").expectGranted();
        alice.mutex("e").expectGranted();
        List<String> rest = new ArrayList<>();
        Optional<String> cursor = first.cursor();
        while (cursor.isPresent()) {
            Reply.Inspected page = alice.send(new Command.Inspect("", cursor, 2), Reply.Inspected.class);
            page.resources().forEach(info -> rest.add(info.name().value()));
            cursor = page.cursor();
        }
        assertThat(rest).containsExactly("c", "d", "e", "f");
    }

    @Test
    @DisplayName("V2: a prefix is plain text, compared exactly")
    void prefixIsPlainText() {
        TestClient alice = fixture.client("alice");
        List.of("job%1", "job_1", "job-1", "jobx1", "Job-1", "job", "j*b", "j?b", "j[a]b", "jo\\b", "über/1")
                .forEach(name -> alice.mutex(name).expectGranted());
        assertThat(pages("job%", 100)).containsExactly("job%1");
        assertThat(pages("job_", 100)).containsExactly("job_1");
        assertThat(pages("Job", 100)).containsExactly("Job-1");
        assertThat(pages("j*", 100)).containsExactly("j*b");
        assertThat(pages("j?", 100)).containsExactly("j?b");
        assertThat(pages("j[", 100)).containsExactly("j[a]b");
        assertThat(pages("jo\\", 100)).containsExactly("jo\\b");
        assertThat(pages("ü", 100)).containsExactly("über/1");
        assertThat(pages("job", 100)).containsExactlyInAnyOrder("job%1", "job_1", "job-1", "jobx1", "job");
        assertThat(pages("job-1-and-more", 100)).isEmpty();
    }

    @Test
    @DisplayName("V3: an inspection tells who holds and who waits, in their order, and as what")
    void inspectionTellsTheParties() {
        fixture.needsAdmission(Admission.COUNTED);
        TestClient alice = fixture.client("alice@host: Ünïcode 😀");
        TestClient bob = fixture.other("bob");
        Probe three = alice.permits("gpu", 3, 4).wanting(8).expectGranted();
        Probe one = bob.permits("gpu", 1, 4).expectGranted();
        Probe waits = bob.permits("gpu", 2, 4).expectQueued();
        Probe last = alice.permits("gpu", 4, 4).expectQueued();
        ResourceInfo info = fixture.info(three.ref().resource());
        assertThat(info.spec()).isEqualTo(three.spec());
        assertThat(info.declared()).isEqualTo(three.spec());
        assertThat(info.holders()).extracting(ResourceInfo.Party::claim).containsExactly(three.ref(), one.ref());
        assertThat(info.holders()).extracting(ResourceInfo.Party::weight).containsExactly(3, 1);
        assertThat(info.holders())
                .extracting(ResourceInfo.Party::label)
                .containsExactly("alice@host: Ünïcode 😀", "bob");
        assertThat(info.holders())
                .extracting(ResourceInfo.Party::tokens)
                .containsExactly(Optional.of(three.block()), Optional.of(one.block()));
        assertThat(info.holders())
                .allSatisfy(party -> assertThat(party.remaining()).isPositive());
        assertThat(info.holding()).as("how many hold it").isEqualTo(2);
        assertThat(info.usedCapacity()).as("what they hold together").isEqualTo(4);
        assertThat(info.lastToken()).isEqualTo(one.block().last());
        if (fixture.traits.has(Feature.KNOWN_WAITERS)) {
            assertThat(info.waiting()).isEqualTo(2);
            assertThat(info.waiters()).extracting(ResourceInfo.Party::claim).containsExactly(waits.ref(), last.ref());
            assertThat(info.waiters()).extracting(ResourceInfo.Party::weight).containsExactly(2, 4);
            assertThat(info.waiters())
                    .allSatisfy(party -> assertThat(party.tokens()).isEmpty());
        }
    }

    @Test
    @DisplayName("V3: what is left of a hold is told as it would end without renewal")
    void inspectionTellsWhatIsLeft() {
        TestClient alice = fixture.client("alice");
        Probe bySession = alice.mutex("by-session").expectGranted();
        assertThat(left(bySession)).isPositive().isLessThanOrEqualTo(alice.ttl);
        if (fixture.traits.fixedLease() != FixedLease.NONE) {
            Duration minute = Duration.ofMinutes(1);
            Probe bounded = alice.mutex("bounded").with(Lease.bounded(minute)).expectGranted();
            assertThat(left(bounded)).isPositive().isLessThanOrEqualTo(minute);
        }
    }

    @Test
    @DisplayName("V7: an inspection of one name tells each of its holders once, page by page, and how many there are")
    void inspectionOfOneNameTellsAllHolders() {
        fixture.needsAdmission(Admission.COUNTED);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        alice.permits("gpu/2", 1, 2).expectGranted();
        List<ClaimRef> all = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            all.add((i % 2 == 0 ? alice : bob)
                    .permits("gpu", 1 + i % 3, 2 * MANY + 1)
                    .expectGranted()
                    .ref());
        }
        for (int limit : new int[] {MANY / 3, MANY - 1, MANY, 10_000}) {
            assertThat(holdersOf("gpu", limit, () -> {})).containsExactlyElementsOf(all);
        }
        ResourceInfo beside = fixture.info(all.get(0).resource());
        assertThat(beside.holding()).as("how many hold it").isEqualTo(MANY);
        assertThat(beside.usedCapacity()).as("what they hold together").isEqualTo(2 * MANY);
        assertThat(beside.holders()).hasSizeLessThanOrEqualTo(MANY);
        assertThat(inspect("gp", Optional.empty(), 10).resources()).isEmpty();
    }

    @Test
    @DisplayName("V7: who holds a name all the while is told once, whatever comes and goes between the pages")
    void inspectionOfOneNameIsStable() {
        fixture.needsAdmission(Admission.COUNTED);
        TestClient alice = fixture.client("alice");
        List<Probe> holders = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            holders.add(alice.permits("gpu", 1, 10).expectGranted());
        }
        List<ClaimRef> reported = holdersOf("gpu", 2, () -> {
            holders.get(0).release();
            holders.get(1).release();
            holders.get(4).release();
            alice.permits("gpu", 1, 10).expectGranted();
        });
        assertThat(reported).doesNotHaveDuplicates();
        assertThat(reported)
                .containsSubsequence(
                        holders.get(2).ref(),
                        holders.get(3).ref(),
                        holders.get(5).ref());
    }

    @Test
    @DisplayName("V4: an inspection does not pick up a fixed lease, keep a session alive or admit anybody out of turn")
    void inspectionChangesNothing() {
        fixture.needsFixedLeases();
        ConformanceFixture.needs(
                fixture.traits.has(Feature.KNOWN_WAITERS),
                "the store does not know who waits, and admits nobody by itself");
        TestClient alice = fixture.client("alice");
        TestClient dies = fixture.shortLived("dies");
        TestClient bob = fixture.other("bob");
        Duration length = Duration.ofSeconds(10);
        Probe before = alice.mutex("ledger").expectGranted();
        Probe bounded = bob.mutex("ledger").with(Lease.bounded(length)).expectQueued();
        Probe mortal = dies.mutex("mortal").expectGranted();
        before.release();
        assertThat(fixture.inspect("")).hasSize(2);
        fixture.pass(dies.ttl.minusMillis(100));
        assertThat(fixture.inspect("")).hasSize(2);
        fixture.pass(Duration.ofMillis(200));
        assertThat(fixture.inspect(""))
                .extracting(info -> info.name())
                .containsExactly(bounded.ref().resource());
        mortal.expectGone();
        assertThat(bounded.grant().remaining()).contains(length);
    }

    @Test
    @DisplayName("V5: an audit names every claim of the session once, page by page, and no others")
    void auditIsComplete() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        List<ClaimRef> holders = new ArrayList<>();
        List<ClaimRef> waiting = new ArrayList<>();
        for (int i = 0; i < 11; i++) {
            holders.add(alice.mutex("held-" + i).expectGranted().ref());
            bob.mutex("taken-" + i).expectGranted();
            waiting.add(alice.mutex("taken-" + i).expectQueued().ref());
            waiting.add(alice.mutex("held-" + i).expectQueued().ref());
        }
        for (int limit : new int[] {1, 4, 33, 1_000}) {
            List<List<ClaimRef>> all = alice.audit(limit);
            assertThat(all.get(0)).containsExactlyInAnyOrderElementsOf(holders);
            assertThat(all.get(1)).containsExactlyInAnyOrderElementsOf(waiting);
        }
        assertThat(bob.claims()).hasSize(11);
        assertThat(bob.waiting()).isEmpty();
    }

    @Test
    @DisplayName("V5: an audit follows what happens to the claims")
    void auditFollowsTheClaims() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe waits = bob.mutex("ledger").expectQueued();
        assertThat(bob.waiting()).containsExactly(waits.ref());
        holder.release();
        waits.expectHeld();
        assertThat(alice.claims()).isEmpty();
        assertThat(bob.claims()).containsExactly(waits.ref());
        assertThat(bob.waiting()).isEmpty();
        Probe next = alice.mutex("ledger");
        Probe again = bob.mutex("ledger");
        next.expectQueued();
        assertThat(waits.yieldFor(again)).isInstanceOf(Reply.Queued.class);
        next.expectHeld();
        assertThat(alice.claims()).containsExactly(next.ref());
        assertThat(bob.claims()).isEmpty();
        assertThat(bob.waiting()).containsExactly(again.ref());
    }

    @Test
    @DisplayName("V5: a claim that stays is named by an audit once, whatever comes and goes between the pages")
    void auditIsStable() {
        TestClient alice = fixture.client("alice");
        List<Probe> holders = new ArrayList<>();
        for (int i = 0; holders.size() < 9; i++) {
            Probe one = alice.mutex("held-" + i);
            if (holders.isEmpty() || alice.sessionOf(one).equals(alice.sessionOf(holders.get(0)))) {
                holders.add(one.expectGranted());
            }
        }
        List<ClaimRef> found = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        int page = 0;
        do {
            Reply.Audited audited =
                    alice.send(new Command.Audit(alice.sessionOf(holders.get(1)), cursor, 2), Reply.Audited.class);
            found.addAll(audited.granted());
            cursor = audited.cursor();
            if (page == 1) {
                holders.get(0).release();
                holders.get(8).release();
                alice.mutex("a-new-one").expectGranted();
            }
            page++;
        } while (cursor.isPresent());
        List<ClaimRef> stayed = holders.subList(1, 8).stream().map(Probe::ref).toList();
        assertThat(found).doesNotHaveDuplicates().containsAll(stayed);
    }

    @Test
    @DisplayName("V6: an ended session has no claims but the detached grants that last")
    void auditOfAnEndedSession() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe taken = bob.mutex("taken").expectGranted();
        alice.mutex("held").expectGranted();
        alice.mutex("taken").expectQueued();
        Optional<Probe> detached = fixture.traits.has(Feature.DETACHED_GRANTS)
                ? Optional.of(alice.mutex("detached")
                        .with(Lease.detached(Duration.ofHours(1)))
                        .expectGranted())
                : Optional.empty();
        alice.close();
        assertThat(alice.waiting()).isEmpty();
        assertThat(alice.claims())
                .containsExactlyElementsOf(detached.map(Probe::ref).stream().toList());
        taken.expectHeld();
    }

    @Test
    @DisplayName("V8: what can't be read is named as damaged, beside all others, and fails an inspection of it alone")
    void damageIsNamed() {
        TestClient alice = fixture.client("alice");
        List<String> others = List.of("a", "b", "x", "y");
        others.forEach(name -> alice.mutex(name).expectGranted());
        Probe holder = alice.mutex("damaged").expectGranted();
        ConformanceFixture.needs(fixture.damage(holder.ref().resource()), "the test can't damage a record");
        for (int limit : new int[] {1, 2, 100}) {
            List<String> found = new ArrayList<>();
            List<DamagedRecord> damaged = new ArrayList<>();
            Optional<String> cursor = Optional.empty();
            do {
                Reply.Inspected page = ConformanceFixture.send(
                        fixture.first, new Command.Inspect("", cursor, limit), Reply.Inspected.class);
                assertThat(page.resources().size() + page.damaged().size()).isLessThanOrEqualTo(limit);
                page.resources().forEach(info -> found.add(info.name().value()));
                damaged.addAll(page.damaged());
                cursor = page.cursor();
            } while (cursor.isPresent());
            assertThat(found).containsExactlyInAnyOrderElementsOf(others);
            assertThat(damaged).singleElement().satisfies(record -> {
                assertThat(record.name()).isEqualTo("damaged");
                assertThat(record.reason()).isNotBlank();
            });
        }
        Command alone = new Command.Inspect("damaged", Optional.empty(), 100, Command.Inspect.Scope.NAME);
        assertThat(ConformanceFixture.failure(fixture.first, alone).reason()).isEqualTo(StoreException.Reason.CORRUPT);
    }

    private List<String> pages(String prefix, int limit) {
        List<String> names = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            Reply.Inspected page = ConformanceFixture.send(
                    fixture.first, new Command.Inspect(prefix, cursor, limit), Reply.Inspected.class);
            assertThat(page.resources()).hasSizeLessThanOrEqualTo(limit);
            page.resources().stream()
                    .map(ResourceInfo::name)
                    .map(ResourceName::value)
                    .forEach(names::add);
            cursor = page.cursor();
        } while (cursor.isPresent());
        return names;
    }

    private Reply.Inspected inspect(String name, Optional<String> cursor, int limit) {
        return ConformanceFixture.send(
                fixture.first,
                new Command.Inspect(name, cursor, limit, Command.Inspect.Scope.NAME),
                Reply.Inspected.class);
    }

    /** The holders of a name, page by page; an action runs after the first page. */
    private List<ClaimRef> holdersOf(String name, int limit, Runnable afterFirst) {
        List<ClaimRef> reported = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            Reply.Inspected page = inspect(name, cursor, limit);
            assertThat(page.resources()).extracting(info -> info.name().value()).containsExactly(name);
            page.resources().get(0).holders().forEach(party -> reported.add(party.claim()));
            if (cursor.isEmpty()) {
                afterFirst.run();
            }
            cursor = page.cursor();
        } while (cursor.isPresent());
        return reported;
    }

    private Duration left(Probe holder) {
        return fixture.info(holder.ref().resource()).holders().get(0).remaining();
    }
}
