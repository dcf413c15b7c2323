package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** U: a store that keeps sessions in partitions keeps them apart. */
@Tag("U")
abstract class PartitionRules extends ConformanceRules {

    /** Two names of different partitions; of which there are two at least. */
    private String here = "";

    private String there = "";

    @BeforeEach
    void findNamesOfTwoParts() {
        here = "name-0";
        there = IntStream.range(1, 10_000)
                .mapToObj(i -> "name-" + i)
                .filter(name -> partitionOf(name) != partitionOf(here))
                .findFirst()
                .orElse("");
    }

    private int partitionOf(String name) {
        return fixture.first.partitionOf(new ResourceName(name));
    }

    private void needsParts() {
        ConformanceFixture.needs(fixture.first.partitions() > 1, "the store has one partition only");
    }

    @Test
    @DisplayName("U1: a name belongs to one partition, the same for all clients")
    void nameHasOnePart() {
        assertThat(fixture.first.partitions()).isPositive().isEqualTo(fixture.second.partitions());
        for (int i = 0; i < 1_000; i++) {
            ResourceName name = new ResourceName("name-" + i);
            assertThat(fixture.first.partitionOf(name))
                    .isEqualTo(fixture.second.partitionOf(name))
                    .isBetween(0, fixture.first.partitions() - 1);
        }
        assertThat(there.isEmpty()).isEqualTo(fixture.first.partitions() == 1);
    }

    @Test
    @DisplayName("U2: under a session of another partition nothing can be had")
    void sessionsServeTheirOwnPartOnly() {
        needsParts();
        TestClient alice = fixture.client("alice");
        SessionId wrong = alice.sessionOf(new ResourceName(there));
        Probe right = alice.mutex(here);
        Command.Acquire strange = new Command.Acquire(
                new ClaimRef(right.ref().resource(), wrong, 1),
                0,
                right.sending(),
                right.spec(),
                1,
                right.lease(),
                right.waiting(),
                1);
        alice.send(strange, Reply.SessionEnded.class);
        assertThat(fixture.inspect(here)).isEmpty();
        right.expectGranted();
    }

    @Test
    @DisplayName("U3: the end, the deadline and the epoch of a session are of its partition alone")
    void sessionsLiveByThemselves() {
        needsParts();
        TestClient alice = fixture.client("alice");
        Probe ends = alice.mutex(here).expectGranted();
        Probe stays = alice.mutex(there).expectGranted();
        ConformanceFixture.send(
                fixture.first, new Command.KeepAlive(alice.sessionOf(ends), 7), Reply.SessionAlive.class);
        alice.mutex(here).expectStale();
        alice.mutex(there).tried().expectRefused(Refusal.TAKEN);
        ConformanceFixture.send(fixture.first, new Command.CloseSession(alice.sessionOf(ends)), Reply.Done.class);
        ends.expectGone();
        stays.expectHeld();
        assertThat(alice.claims()).containsExactly(stays.ref());
        stays.release();
    }

    @Test
    @DisplayName("U3: a keep-alive in one partition moves the deadline of no other")
    void deadlinesAreOfTheirParts() {
        needsParts();
        TestClient alice = fixture.shortLived("alice");
        Probe kept = alice.mutex(here).expectGranted();
        Probe left = alice.mutex(there).expectGranted();
        fixture.pass(alice.ttl.dividedBy(2));
        ConformanceFixture.send(
                fixture.first, new Command.KeepAlive(alice.sessionOf(kept), 0), Reply.SessionAlive.class);
        fixture.pass(alice.ttl.dividedBy(2).plus(Duration.ofSeconds(1)));
        left.expectGone();
        kept.expectHeld();
    }

    @Test
    @DisplayName("U4: claims of several partitions may be polled together, and are answered in their order")
    void pollsGoToAllParts() {
        needsParts();
        TestClient alice = fixture.client("alice");
        Probe one = alice.mutex(here).expectGranted();
        Probe two = alice.mutex(there).expectGranted();
        Probe none = alice.mutex(here);
        Reply.Polled polled = ConformanceFixture.send(
                fixture.first, new Command.Poll(List.of(two.ref(), none.ref(), one.ref())), Reply.Polled.class);
        assertThat(polled.states().get(0)).isEqualTo(two.grant());
        assertThat(polled.states().get(1)).isInstanceOf(Reply.Absent.class);
        assertThat(polled.states().get(2)).isEqualTo(one.grant());
    }

    @Test
    @DisplayName("U5: an inspection goes through all partitions, and one of a single name finds it")
    void inspectionGoesThroughAllParts() {
        needsParts();
        TestClient alice = fixture.client("alice");
        List<ResourceName> names = IntStream.range(0, 40)
                .mapToObj(i -> alice.mutex("part/" + i).expectGranted().ref().resource())
                .toList();
        assertThat(fixture.inspect("part/")).extracting(info -> info.name()).containsExactlyInAnyOrderElementsOf(names);
        Reply.Inspected one = ConformanceFixture.send(
                fixture.second,
                new Command.Inspect("part/7", Optional.empty(), 100, Command.Inspect.Scope.NAME),
                Reply.Inspected.class);
        assertThat(one.resources()).extracting(info -> info.name().value()).contains("part/7");
    }

    @Test
    @DisplayName("U6: tokens rise in each partition, whatever the clients do in others")
    void tokensRiseInEachPart() {
        needsParts();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        long before = 0;
        for (int i = 0; i < 20; i++) {
            Probe holder = (i % 2 == 0 ? alice : bob).mutex(here).expectGranted();
            alice.mutex(there + i).expectGranted();
            assertThat(holder.block().first()).isGreaterThan(before);
            before = holder.block().last();
            holder.release();
        }
    }
}
