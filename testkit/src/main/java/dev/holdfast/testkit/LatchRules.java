package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreTraits.Admission;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** K: latches, which count down. */
@Tag("K")
abstract class LatchRules extends ConformanceRules {

    private static final ResourceName START = new ResourceName("start");

    @CanIgnoreReturnValue
    private Reply.Count set(TestClient client, long generation, long count) {
        return client.send(
                new Command.SetCount(START, client.sessionOf(START), client.epoch, generation, count),
                Reply.Count.class);
    }

    @CanIgnoreReturnValue
    private Reply.Count countDown(TestClient client, long generation, String id, long n) {
        return client.send(new Command.CountDown(START, generation, id, n), Reply.Count.class);
    }

    @Test
    @DisplayName("K1: a count is set once, and who comes later learns the one that is set")
    void countIsSetOnce() {
        fixture.needsAdmission(Admission.LATCH);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        assertThat(set(alice, 1, 3)).isEqualTo(new Reply.Count(1, 3));
        assertThat(set(alice, 1, 3)).isEqualTo(new Reply.Count(1, 3));
        assertThat(set(bob, 1, 5)).isEqualTo(new Reply.Count(1, 3));
        assertThat(set(bob, 2, 5)).isEqualTo(new Reply.Count(1, 3));
        assertThat(countDown(bob, 1, "a", 1)).isEqualTo(new Reply.Count(1, 2));
        assertThat(set(alice, 1, 3)).isEqualTo(new Reply.Count(1, 2));
    }

    @Test
    @DisplayName("K2: a latch counts to zero and not below, and stays open")
    void countEndsAtZero() {
        fixture.needsAdmission(Admission.LATCH);
        TestClient alice = fixture.client("alice");
        set(alice, 1, 5);
        assertThat(countDown(alice, 1, "a", 2)).isEqualTo(new Reply.Count(1, 3));
        assertThat(countDown(alice, 1, "b", 7)).isEqualTo(new Reply.Count(1, 0));
        assertThat(countDown(alice, 1, "c", 1)).isEqualTo(new Reply.Count(1, 0));
        assertThat(set(alice, 1, 5)).isEqualTo(new Reply.Count(1, 0));
        fixture.other("bob").pass("start").tried().expectGranted();
    }

    @Test
    @DisplayName("K3: a count-down that is sent again counts once")
    void countDownCountsOnce() {
        fixture.needsAdmission(Admission.LATCH);
        TestClient alice = fixture.client("alice");
        set(alice, 1, 5);
        for (int i = 0; i < 3; i++) {
            assertThat(countDown(alice, 1, "same", 1)).isEqualTo(new Reply.Count(1, 4));
        }
        assertThat(countDown(alice, 1, "Same", 1)).isEqualTo(new Reply.Count(1, 3));
        assertThat(countDown(alice, 1, "same", 2)).isEqualTo(new Reply.Count(1, 3));
        assertThat(countDown(alice, 1, "x".repeat(64), 1)).isEqualTo(new Reply.Count(1, 2));
    }

    @Test
    @DisplayName("K4: a count-down of another generation does nothing")
    void countDownOfAnotherGeneration() {
        fixture.needsAdmission(Admission.LATCH);
        TestClient alice = fixture.client("alice");
        assertThat(countDown(alice, 0, "question", 1)).isEqualTo(new Reply.Count(0, 0));
        assertThat(countDown(alice, 1, "early", 1)).isEqualTo(new Reply.Count(0, 0));
        set(alice, 1, 1);
        assertThat(countDown(alice, 2, "early", 1)).isEqualTo(new Reply.Count(1, 1));
        assertThat(countDown(alice, 0, "question", 1)).isEqualTo(new Reply.Count(1, 1));
        assertThat(countDown(alice, 1, "a", 1)).isEqualTo(new Reply.Count(1, 0));
        assertThat(set(alice, 2, 2)).isEqualTo(new Reply.Count(2, 2));
        assertThat(countDown(alice, 1, "late", 1)).isEqualTo(new Reply.Count(2, 2));
        assertThat(countDown(alice, 2, "a", 1)).isEqualTo(new Reply.Count(2, 1));
        assertThat(set(alice, 1, 9)).isEqualTo(new Reply.Count(2, 1));
    }

    @Test
    @DisplayName("K5: when a latch opens, all who wait pass together")
    void allPassTogether() {
        fixture.needsAdmission(Admission.LATCH);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        set(alice, 1, 2);
        List<Probe> waiting = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            waiting.add((i % 2 == 0 ? alice : bob).pass("start").expectQueued());
        }
        countDown(alice, 1, "a", 1);
        waiting.forEach(Probe::expectWaiting);
        bob.pass("start").tried().expectRefused(Refusal.TAKEN);
        countDown(bob, 1, "b", 1);
        waiting.forEach(Probe::expectHeld);
    }

    @Test
    @DisplayName("K5: who passed learns it also if the latch has been set anew since")
    void passedStaysPassed() {
        fixture.needsAdmission(Admission.LATCH);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        set(alice, 1, 1);
        Probe waits = bob.pass("start").expectQueued();
        countDown(alice, 1, "a", 1);
        set(alice, 2, 1);
        Probe later = bob.pass("start").expectQueued();
        waits.expectHeld();
        waits.expectGranted();
        later.expectWaiting();
        waits.release();
        waits.expectGone();
        later.expectWaiting();
    }

    @Test
    @DisplayName("K6: a latch that is not set or is open lets everybody pass at once")
    void openLatchLetsPass() {
        fixture.needsAdmission(Admission.LATCH);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe unset = bob.pass("start").tried().expectGranted();
        assertThat(set(alice, 1, 1)).isEqualTo(new Reply.Count(1, 1));
        unset.expectHeld();
        Probe waits = bob.pass("start").expectQueued();
        unset.release();
        waits.expectWaiting();
        countDown(alice, 1, "a", 1);
        waits.expectHeld();
        alice.pass("start").tried().expectGranted();
    }

    @Test
    @DisplayName("K6: a pass keeps nobody out, and leaves nothing behind once it is released")
    void passLeavesNothing() {
        fixture.needsAdmission(Admission.LATCH);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe one = alice.pass("start").expectGranted();
        Probe two = bob.pass("start").tried().expectGranted();
        one.release();
        two.withdraw();
        assertThat(fixture.inspect("")).isEmpty();
        assertThat(alice.claims()).isEmpty();
        bob.mutex("start").tried().expectGranted();
    }

    @Test
    @DisplayName("K7: a latch that counts is in use, also when nobody waits; afterwards the name is free")
    void countingLatchIsInUse() {
        fixture.needsAdmission(Admission.LATCH);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        set(alice, 1, 1);
        alice.close();
        bob.mutex("start").tried().expectRefused(Refusal.MISMATCH);
        assertThat(fixture.inspect("")).hasSize(1);
        countDown(bob, 1, "a", 1);
        Probe mutex = bob.mutex("start").tried().expectGranted();
        assertThat(bob.send(new Command.SetCount(START, bob.sessionOf(START), 0, 2, 1), Reply.Refused.class)
                        .reason())
                .isEqualTo(Refusal.MISMATCH);
        assertThat(bob.send(new Command.CountDown(START, 1, "b", 1), Reply.Refused.class)
                        .reason())
                .isEqualTo(Refusal.MISMATCH);
        mutex.release();
        assertThat(set(bob, 2, 1)).isEqualTo(new Reply.Count(2, 1));
    }

    @Test
    @DisplayName("K8: who waits for a latch can leave, and a session that ends leaves with all its claims")
    void leavingALatch() {
        fixture.needsAdmission(Admission.LATCH);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        TestClient carol = fixture.other("carol");
        set(alice, 1, 1);
        Probe leaves = bob.pass("start").expectQueued();
        Probe closes = carol.pass("start").expectQueued();
        Probe stays = bob.pass("start").expectQueued();
        leaves.withdraw();
        carol.close();
        countDown(alice, 1, "a", 1);
        leaves.expectGone();
        closes.expectGone();
        stays.expectHeld();
    }

    @Test
    @DisplayName("K9: large counts are kept exactly")
    void largeCounts() {
        fixture.needsAdmission(Admission.LATCH);
        TestClient alice = fixture.client("alice");
        long large = (1L << 53) + 1;
        assertThat(set(alice, 1, large)).isEqualTo(new Reply.Count(1, large));
        assertThat(countDown(alice, 1, "a", 1)).isEqualTo(new Reply.Count(1, large - 1));
        assertThat(countDown(alice, 1, "b", Long.MAX_VALUE)).isEqualTo(new Reply.Count(1, 0));
        assertThat(set(alice, 2, Long.MAX_VALUE)).isEqualTo(new Reply.Count(2, Long.MAX_VALUE));
        assertThat(countDown(alice, 2, "a", Long.MAX_VALUE - 1)).isEqualTo(new Reply.Count(2, 1));
    }

    @Test
    @DisplayName("K10: a store without latches refuses them, and makes none")
    void latchesMayBeUnsupported() {
        ConformanceFixture.needs(!fixture.traits.admissions().contains(Admission.LATCH), "the store has latches");
        TestClient alice = fixture.client("alice");
        alice.send(new Command.SetCount(START, alice.sessionOf(START), 0, 1, 1), Reply.Unsupported.class);
        alice.send(new Command.CountDown(START, 1, "a", 1), Reply.Unsupported.class);
        alice.send(alice.pass("start").command(), Reply.Unsupported.class);
        alice.mutex("start").tried().expectGranted();
    }
}
