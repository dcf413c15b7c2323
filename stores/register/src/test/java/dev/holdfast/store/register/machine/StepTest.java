package dev.holdfast.store.register.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.store.register.IndexChange;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.RegisterTraits.Clock;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a step decides from the limits of a write, the numbers of the writes, and ended sessions and leases. */
class StepTest extends StepFixture {

    // ---- The limit of a write

    @Test
    @DisplayName("A release admits as many waiters as one write can change, and the next step the others")
    void waitersBeyondTheLimitOfAWrite() {
        ResourceSpec spec = semaphore(40);
        ClaimRef holder = ref("holder", 1);
        written(claim(holder, spec, 40));
        for (int i = 1; i <= 40; i++) {
            written(claim(ref("waiter", i), spec, 1));
        }
        Step release = step();
        executed(release, new Command.Release(holder));
        assertThat(release.view().holders()).hasSize(ROOM);
        assertThat(release.notices()).hasSize(ROOM);
        assertThat(release.isUnfinished()).isTrue();
        write(release);
        Step next = step();
        assertThat(next.view().holders()).hasSize(40);
        assertThat(next.isUnfinished()).isFalse();
    }

    @Test
    @DisplayName("Expired leases beyond the limit of a write stay in the record, and none of them holds")
    void leasesBeyondTheLimitOfAWrite() {
        ResourceSpec spec = semaphore(40);
        for (int i = 1; i <= ROOM + 1; i++) {
            written(claim(ref("holder", i), spec, 1, Lease.bounded(LENGTH), 1));
        }
        now += LENGTH.toNanos() / 1_000;
        Step step = step();
        ClaimRef last = ref("holder", ROOM + 1);
        assertThat(step.view().holders()).containsExactly(last);
        assertThat(step.isUnfinished()).isTrue();
        assertThat(step.notices()).isEmpty();
        assertThat(step.poll(last).on(0)).isInstanceOf(Reply.Absent.class);
        assertThat(step.view().parties()).isZero();
        assertThat(step.isUnfinished()).isFalse();
        assertThat(executed(step, mutex(ref("next", 1)))).isInstanceOf(Reply.Granted.class);
    }

    @Test
    @DisplayName("All claims of an ended session end at once, and their room goes to the next waiter")
    void claimsOfAnEndedSession() {
        ResourceSpec spec = semaphore(40);
        for (int i = 1; i <= 40; i++) {
            written(claim(ref("holder", i), spec, 1));
        }
        ClaimRef waiter = ref("waiter", 1);
        written(claim(waiter, spec, 40));
        gone.add(new SessionId("holder"));
        Step step = step();
        assertThat(step.view().holders()).containsExactly(waiter);
        assertThat(step.notices())
                .extracting(Notice::claim, Notice::kind)
                .containsExactly(tuple(waiter, Notice.Kind.GRANTED));
        assertThat(step.index()).containsExactly(new IndexChange(waiter, IndexChange.Kind.PROMOTED));
    }

    @Test
    @DisplayName("Less capacity ends the waiters that are heavier, with a notice, but no holder")
    void waitersHeavierThanTheCapacity() {
        ResourceSpec spec = semaphore(3);
        ClaimRef holder = ref("holder", 1);
        ClaimRef heavy = ref("heavy", 1);
        ClaimRef light = ref("light", 1);
        written(claim(holder, spec, 3));
        written(claim(heavy, spec, 3));
        written(claim(light, spec, 2));
        Step step = step();
        executed(step, new Command.Resize(NAME, holder.session(), 0, 2));
        assertThat(step.view().holders()).containsExactly(holder);
        assertThat(step.view().waiting()).containsExactly(light);
        assertThat(step.notices()).containsExactly(new Notice(heavy, Notice.Kind.CHANGED, 0, 0, false));
        assertThat(step.index()).containsExactly(new IndexChange(heavy, IndexChange.Kind.WITHDRAWN));
    }

    @Test
    @DisplayName("A full record refuses claims, but none of the first hundred")
    void fullRecord() {
        ResourceSpec spec = semaphore(1_000);
        for (int i = 1; i < 100; i++) {
            written(claim(ref("holder", i), spec, 1));
        }
        maxStateBytes = 1;
        assertThat(written(claim(ref("holder", 100), spec, 1))).isInstanceOf(Reply.Granted.class);
        maxStateBytes = record.state().orElseThrow().length + StateCodec.MAX_CLAIM_BYTES;
        assertThat(executed(step(), claim(ref("holder", 101), spec, 1))).isInstanceOf(Reply.Granted.class);
        maxStateBytes--;
        assertThat(executed(step(), claim(ref("holder", 101), spec, 1)))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Refusal.EXHAUSTED));
    }

    @Test
    @DisplayName(
            "A latch whose record is full refuses counts, but none of the first hundred, and counts no refused one")
    void fullLatch() {
        SessionId session = new SessionId("session");
        written(new Command.SetCount(NAME, session, 0, 1, 1_000));
        for (int i = 1; i < 100; i++) {
            written(new Command.CountDown(NAME, 1, "id-" + i, 1));
        }
        maxStateBytes = 1;
        assertThat(written(new Command.CountDown(NAME, 1, "id-100", 1))).isEqualTo(new Reply.Count(1, 900));
        Step step = step();
        assertThat(executed(step, new Command.CountDown(NAME, 1, "id-101", 1)))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Refusal.EXHAUSTED));
        assertThat(step.isChange()).isFalse();
    }

    // ---- Tokens

    @Test
    @DisplayName("The tokens of a step are fewer than lie between two of the server's writes, but each grant has one")
    void tokensOfAStep() {
        clock = Clock.REVISIONS;
        Step step = step();
        long[] sizes = new long[4];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = tokens(executed(step, claim(ref("holder", i + 1), semaphore(4), 1, Lease.SESSION, 3_000)))
                    .size();
        }
        assertThat(sizes).containsExactly(3_000, 1_096, 1, 1);
    }

    @Test
    @DisplayName("No token is greater than the greatest, and then nothing more is granted")
    void greatestToken() {
        clock = Clock.REVISIONS;
        ClaimRef holder = ref("holder", 1);
        ClaimRef waiter = ref("waiter", 1);
        long first = tokens(written(mutex(holder))).last();
        assertThat(tokens(written(new Command.Advance(holder, first, 10, TokenBlock.MAX_TOKEN - 3))))
                .isEqualTo(new TokenBlock(TokenBlock.MAX_TOKEN - 2, TokenBlock.MAX_TOKEN));
        assertThat(written(new Command.Advance(holder, TokenBlock.MAX_TOKEN, 10, 0)))
                .isInstanceOf(Reply.Unsupported.class);
        assertThat(written(new Command.Yield(holder, mutex(ref("holder", 2))))).isInstanceOf(Reply.Refused.class);
        assertThat(step().view().holders()).containsExactly(holder);
        written(mutex(waiter));
        Step release = step();
        executed(release, new Command.Release(holder));
        assertThat(release.view().parties()).isZero();
        assertThat(release.notices()).containsExactly(new Notice(waiter, Notice.Kind.CHANGED, 0, 0, false));
        write(release);
        Step next = step();
        assertThat(executed(next, mutex(waiter)))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Refusal.EXHAUSTED));
        assertThat(next.isChange()).as("the resource is in use").isFalse();
    }

    @Test
    @DisplayName("An unused record whose tokens are ahead of the server's writes stays until they are not")
    void tokensAheadOfTheWrites() {
        clock = Clock.REVISIONS;
        ClaimRef holder = ref("holder", 1);
        long first = tokens(written(mutex(holder))).last();
        long ahead = 12 << 12;
        assertThat(tokens(written(new Command.Advance(holder, first, 1, ahead - 1)))
                        .last())
                .isEqualTo(ahead);
        change = 8;
        written(new Command.Release(holder));
        assertThat(record.state()).isPresent();
        assertThat(step().isIdle()).isTrue();
        assertThat(step().removal().state()).as("the next write is the tenth").isPresent();
        record = new RegisterRecord(record.state(), new RecordVersion(1, 10), 0);
        assertThat(step().removal().state()).isEmpty();
        assertThat(step().state()).isEmpty();
    }

    @Test
    @DisplayName("A forced release ends the grant with the token, be it its first or its last")
    void forcedRelease() {
        ClaimRef holder = ref("holder", 1);
        TokenBlock block = tokens(written(claim(holder, ResourceSpec.MUTEX, 1, Lease.SESSION, 3)));
        assertThat(block.size()).isEqualTo(3);
        for (long token : List.of(block.first() - 1, block.last() + 1)) {
            assertThat(executed(step(), new Command.ForceRelease(NAME, token))).isInstanceOf(Reply.Absent.class);
        }
        for (long token : List.of(block.first(), block.last())) {
            Step step = step();
            assertThat(executed(step, new Command.ForceRelease(NAME, token))).isInstanceOf(Reply.Released.class);
            assertThat(step.view().parties()).isZero();
            assertThat(step.notices()).containsExactly(new Notice(holder, Notice.Kind.REVOKED, 0, 0, false));
        }
    }

    // ---- Leases that the server keeps

    @Test
    @DisplayName("A lease of the server ends with its claim or its extension, and the claim with its lease")
    void leasesOfTheServer() {
        clock = Clock.REVISIONS;
        ClaimRef holder = ref("holder", 1);
        Acquire acquire = claim(holder, ResourceSpec.MUTEX, 1, Lease.bounded(LENGTH), 1);
        Step step = withLease(acquire, new SessionId("lease"));
        assertThat(step.endedLeases()).isEmpty();
        write(step);
        Step extension = withLease(new Command.Extend(holder, 1, LENGTH), new SessionId("longer"));
        assertThat(extension.endedLeases()).containsExactly(new SessionId("lease"));
        write(extension);
        Step release = step();
        executed(release, new Command.Release(holder));
        assertThat(release.endedLeases()).containsExactly(new SessionId("longer"));
        gone.add(new SessionId("lease"));
        assertThat(step().view().holders()).containsExactly(holder);
        gone.add(new SessionId("longer"));
        assertThat(step().view().holders()).isEmpty();
    }

    @Test
    @DisplayName("A lease that was opened for a claim that ends in the same step ends too")
    void leaseOfAClaimThatEndsInItsStep() {
        clock = Clock.REVISIONS;
        ClaimRef holder = ref("holder", 1);
        SessionId lease = new SessionId("lease");
        Step step = withLease(claim(holder, ResourceSpec.MUTEX, 1, Lease.bounded(LENGTH), 1), lease);
        assertThat(executed(step, new Command.Release(holder))).isInstanceOf(Reply.Released.class);
        assertThat(step.endedLeases()).containsExactly(lease);
    }
}
