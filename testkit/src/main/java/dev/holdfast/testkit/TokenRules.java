package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreTraits.Admission;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.StoreTraits.TokenSource;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Tokens;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T: fencing tokens. */
@Tag("T")
abstract class TokenRules extends ConformanceRules {

    private static void assertAbove(TokenBlock later, TokenBlock earlier) {
        assertThat(later.first())
                .as("tokens rise: %s was reserved after %s", later, earlier)
                .isGreaterThan(earlier.last());
    }

    @Test
    @DisplayName("T1: tokens rise over releases, withdrawals, yields and the ends of sessions")
    void tokensRiseHoweverAGrantEnds() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe released = alice.mutex("ledger").wanting(8).expectGranted();
        TokenBlock first = released.block();
        released.release();
        Probe withdrawn = bob.mutex("ledger").wanting(8).expectGranted();
        TokenBlock second = withdrawn.block();
        assertAbove(second, first);
        withdrawn.withdraw();
        TestClient closes = fixture.client("closes");
        TokenBlock third = closes.mutex("ledger").wanting(8).granted().tokens();
        assertAbove(third, second);
        Probe queued = bob.mutex("ledger").wanting(8).expectQueued();
        closes.close();
        TokenBlock fourth = queued.block();
        assertAbove(fourth, third);
        Probe next = bob.mutex("ledger").wanting(8);
        assertThat(queued.yieldFor(next)).isInstanceOf(fixture.yieldedAlone());
        assertAbove(next.block(), fourth);
    }

    @Test
    @DisplayName("T1: tokens rise over the expiry of a session")
    void tokensRiseOverExpiry() {
        TestClient dies = fixture.shortLived("dies");
        Probe holder = dies.mutex("ledger").wanting(100).expectGranted();
        TokenBlock first = holder.block();
        fixture.until("the session has ended", holder::isOver);
        assertAbove(fixture.other("bob").mutex("ledger").granted().tokens(), first);
    }

    @Test
    @DisplayName("T1: tokens rise over a forced release")
    void tokensRiseOverForce() {
        TestClient alice = fixture.client("alice");
        TokenBlock first = alice.mutex("ledger").wanting(100).granted().tokens();
        Probe next = fixture.other("bob").mutex("ledger").expectQueued();
        alice.send(new Command.ForceRelease(next.ref().resource(), first.first()), Reply.Released.class);
        assertAbove(next.block(), first);
    }

    @Test
    @DisplayName("T1: tokens rise over many grants in a row, faster than any clock ticks")
    void tokensRiseInARow() {
        TestClient alice = fixture.client("alice");
        TokenBlock last = new TokenBlock(1, 1);
        for (int i = 0; i < 200; i++) {
            Probe holder = alice.mutex("ledger").wanting(1 + i % 7);
            TokenBlock block = holder.granted().tokens();
            if (i > 0) {
                assertAbove(block, last);
            }
            last = block;
            holder.release();
        }
    }

    @Test
    @DisplayName("T1: tokens rise when the store's clock is stepped back")
    void tokensRiseOverAStepBack() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").wanting(100).expectGranted();
        TokenBlock first = holder.block();
        holder.release();
        fixture.pass(Duration.ofMinutes(-30));
        TokenBlock second = alice.mutex("ledger").wanting(100).granted().tokens();
        assertAbove(second, first);
    }

    @Test
    @DisplayName("T2: tokens rise also when the store has forgotten all that it ever forgets of a name")
    void tokensRiseOverForgetting() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        TokenBlock first = holder.block();
        if (fixture.traits.has(Feature.ADVANCE)) {
            first = alice.send(
                            new Command.Advance(holder.ref(), first.last(), 1, first.last() + 5_000_000),
                            Reply.Advanced.class)
                    .tokens();
        }
        holder.release();
        ConformanceFixture.needs(fixture.forgetIdle(), "the test can't make the store forget idle resources");
        assertAbove(alice.mutex("ledger").granted().tokens(), first);
    }

    @Test
    @DisplayName("T2: the counter of a name outlives the name's use by others in between")
    void counterOutlivesOtherUse() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").wanting(1_000).expectGranted();
        TokenBlock first = holder.block();
        holder.release();
        for (int i = 0; i < 50; i++) {
            alice.mutex("passing-" + i).expectGranted().release();
        }
        assertAbove(alice.mutex("ledger").granted().tokens(), first);
    }

    @Test
    @DisplayName("T3: a block has one token at least, and no more than were asked for")
    void blockIsNotLargerThanAsked() {
        TestClient alice = fixture.client("alice");
        for (int want : new int[] {1, 2, 64, 1_000, TokenBlock.MAX_SIZE}) {
            Probe holder = alice.mutex("want-" + want).wanting(want);
            TokenBlock block = holder.granted().tokens();
            assertThat(block.size()).isBetween(1L, (long) want);
            if (fixture.traits.has(Feature.ADVANCE)) {
                assertThat(advance(holder, block.last(), 0).size()).isBetween(1L, 4L);
            }
        }
    }

    @Test
    @DisplayName("T3: grants that are held together have no token in common")
    void blocksAreDisjoint() {
        fixture.needsAdmission(Admission.SHARED);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        TokenBlock one = alice.reader("catalogue").wanting(16).granted().tokens();
        TokenBlock two = bob.reader("catalogue").wanting(16).granted().tokens();
        TokenBlock three = alice.reader("catalogue").wanting(16).granted().tokens();
        assertAbove(two, one);
        assertAbove(three, two);
    }

    @Test
    @DisplayName("T4: tokens run ahead of the store's clock by no more than the lead")
    void blocksAreCapped() {
        ConformanceFixture.needs(
                fixture.traits.tokenSource() == TokenSource.CLOCKED, "the store's tokens don't follow a clock");
        TestClient alice = fixture.client("alice");
        long before = System.nanoTime();
        Probe opening = alice.mutex("ledger").wanting(TokenBlock.MAX_SIZE);
        TokenBlock first = opening.granted().tokens();
        opening.release();
        TokenBlock last = first;
        int blocks = 8;
        for (int i = 1; i < blocks; i++) {
            Probe holder = alice.mutex("ledger").wanting(TokenBlock.MAX_SIZE);
            last = holder.granted().tokens();
            holder.release();
        }
        // The clock of the store can't have gone further than this, but for the tick at either end.
        long micros = fixture.hasClock() ? 0 : (System.nanoTime() - before) / 1_000 + 2_000;
        long most = Tokens.floor(micros + Tokens.LEAD_MICROS) + blocks + 2;
        assertThat(last.last() - first.first())
                .as(
                        "%s blocks of up to %s tokens were reserved from %s to %s",
                        blocks, TokenBlock.MAX_SIZE, first, last)
                .isLessThanOrEqualTo(most);
        assertThat(last.last()).isLessThanOrEqualTo(TokenBlock.MAX_TOKEN);
    }

    @Test
    @DisplayName("T4: tokens follow the store's clock, so they rise even if a counter is lost")
    void tokensFollowTheClock() {
        ConformanceFixture.needs(
                fixture.traits.tokenSource() == TokenSource.CLOCKED, "the store's tokens don't follow a clock");
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        long before = holder.block().last();
        holder.release();
        fixture.pass(Duration.ofMinutes(30));
        long passed = Tokens.floor(Duration.ofMinutes(30).toSeconds() * 1_000_000);
        long after = alice.mutex("ledger").granted().tokens().first();
        assertThat(after - before).isBetween(passed - Tokens.floor(Tokens.LEAD_MICROS) - 2, passed + 2);
    }

    @Test
    @DisplayName("T5: every answer about a grant carries the same block, first and last")
    void everyAnswerCarriesTheBlock() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").wanting(32);
        TokenBlock block = holder.granted().tokens();
        assertThat(holder.block()).isEqualTo(block);
        assertThat(holder.granted().tokens()).isEqualTo(block);
        assertThat(fixture.info(holder.ref().resource()).holders())
                .singleElement()
                .satisfies(party -> assertThat(party.tokens()).contains(block));
        assertThat(fixture.info(holder.ref().resource()).lastToken()).isEqualTo(block.last());
    }

    @Test
    @DisplayName("T6: Advance gives a fresh block above all others, once for each block that is spent")
    void advanceActsOncePerBlock() {
        fixture.needsAdvance();
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").wanting(4).expectGranted();
        TokenBlock first = holder.block();
        TokenBlock second = advance(holder, first.last(), 0);
        assertAbove(second, first);
        assertThat(holder.block()).isEqualTo(second);
        assertThat(holder.granted().tokens()).isEqualTo(second);
        assertThat(advance(holder, first.last(), 0)).isEqualTo(second);
        assertThat(advance(holder, second.last() + 1, 0)).isEqualTo(second);
        TokenBlock third = advance(holder, second.last(), 0);
        assertAbove(third, second);
        holder.release();
        assertAbove(alice.mutex("ledger").granted().tokens(), third);
    }

    @Test
    @DisplayName("T6: Advance starts above what it is told to, and later grants stay above that")
    void advanceAboveAtLeast() {
        fixture.needsAdvance();
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        long far = holder.block().last() + 10_000_000;
        TokenBlock raised = advance(holder, holder.block().last(), far);
        assertThat(raised.first()).isGreaterThan(far);
        assertThat(advance(holder, holder.block().last(), 1).first()).isGreaterThan(raised.last());
        TokenBlock last = holder.block();
        holder.release();
        assertAbove(alice.mutex("ledger").granted().tokens(), last);
    }

    @Test
    @DisplayName("T7: Advance never gives way, and says whether anybody waits")
    void advanceNeverGivesWay() {
        fixture.needsAdvance();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Command.Advance alone = new Command.Advance(holder.ref(), holder.block().last(), 4, 0);
        boolean awaitedAlone = alice.send(alone, Reply.Advanced.class).awaited();
        Probe waits = bob.mutex("ledger").expectQueued();
        Command.Advance watched =
                new Command.Advance(holder.ref(), holder.block().last(), 4, 0);
        boolean awaited = alice.send(watched, Reply.Advanced.class).awaited();
        holder.expectHeld();
        waits.expectWaiting();
        assertThat(awaited).isTrue();
        assertThat(awaitedAlone).isEqualTo(!fixture.traits.has(Feature.KNOWN_WAITERS));
    }

    @Test
    @DisplayName("T7: Advance of a claim that waits, has ended or is another's is answered Absent")
    void advanceNeedsTheGrant() {
        fixture.needsAdvance();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        TokenBlock block = holder.block();
        Probe waits = bob.mutex("ledger").expectQueued();
        bob.send(new Command.Advance(waits.ref(), block.last(), 1, 0), Reply.Absent.class);
        Probe never = bob.mutex("ledger");
        bob.send(new Command.Advance(never.ref(), block.last(), 1, 0), Reply.Absent.class);
        assertThat(holder.block()).isEqualTo(block);
        holder.release();
        alice.send(new Command.Advance(holder.ref(), block.last(), 1, 0), Reply.Absent.class);
        waits.expectHeld();
    }

    @Test
    @DisplayName("T8: a store without Advance says so, and the grant stays")
    void advanceMayBeUnsupported() {
        ConformanceFixture.needs(!fixture.traits.has(Feature.ADVANCE), "the store has Advance");
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        alice.send(new Command.Advance(holder.ref(), holder.block().last(), 1, 0), Reply.Unsupported.class);
        holder.expectHeld();
    }

    private static TokenBlock advance(Probe holder, long blockEnd, long atLeast) {
        Command.Advance command = new Command.Advance(holder.ref(), blockEnd, 4, atLeast);
        return holder.client().send(command, Reply.Advanced.class).tokens();
    }
}
