package dev.holdfast.store.register.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.store.register.RegisterTraits.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a step shows of the claims in a record: to their claimants, and to other clients. */
class StepAnswersTest extends StepFixture {

    // ---- Notices and answers

    @Test
    @DisplayName("A waiter that is admitted and leaves in the same step gets no notice of its grant")
    void grantThatEndsInItsStep() {
        ClaimRef holder = ref("holder", 1);
        ClaimRef waiter = ref("waiter", 1);
        written(mutex(holder));
        written(mutex(waiter));
        Step step = step();
        executed(step, new Command.Release(holder));
        assertThat(step.notices()).extracting(Notice::claim).containsExactly(waiter);
        executed(step, new Command.Withdraw(waiter, Sending.FIRST));
        assertThat(step.notices()).isEmpty();
    }

    @Test
    @DisplayName("A holder learns that others wait if they are in the queue or were announced")
    void awaited() {
        ClaimRef holder = ref("holder", 1);
        written(mutex(holder));
        assertThat(isAwaited(step(), holder)).isFalse();
        Step step = step();
        facts.othersAnnounced(true);
        assertThat(isAwaited(step, holder)).isTrue();
        written(mutex(ref("waiter", 1)));
        assertThat(isAwaited(step(), holder)).isTrue();
    }

    @Test
    @DisplayName(
            "A waiter checks again when the first of those before it may end, at the latest after a third of its ttl")
    void recheck() {
        ClaimRef holder = ref("holder", 1);
        ClaimRef head = ref("head", 1);
        written(mutex(holder));
        written(mutex(head));
        written(mutex(ref("between", 1)));
        Step step = step();
        Answer answer = step.execute(mutex(ref("waiter", 1)));
        assertThat(facts.missingRemaining()).containsExactlyInAnyOrder(holder.session(), head.session());
        facts.remaining(holder.session(), Duration.ofSeconds(30));
        facts.remaining(head.session(), Duration.ofSeconds(40));
        assertThat(answer.on(0)).isEqualTo(new Reply.Queued(Duration.ofSeconds(20)));
        facts.remaining(head.session(), Duration.ofSeconds(7));
        assertThat(answer.on(0)).isEqualTo(new Reply.Queued(Duration.ofSeconds(7)));
        facts.remaining(holder.session(), Duration.ofSeconds(5));
        assertThat(answer.on(0)).isEqualTo(new Reply.Queued(Duration.ofSeconds(5)));
    }

    @Test
    @DisplayName("A waiter checks again when the holder's own lease or its session may end")
    void recheckOfALease() {
        ClaimRef holder = ref("holder", 1);
        written(claim(holder, ResourceSpec.MUTEX, 1, Lease.bounded(LENGTH), 1));
        Answer answer = step().execute(mutex(ref("waiter", 1)));
        assertThat(facts.missingRemaining()).containsExactly(holder.session());
        facts.remaining(holder.session(), Duration.ofSeconds(30));
        assertThat(answer.on(0)).isEqualTo(new Reply.Queued(LENGTH));
        facts.remaining(holder.session(), Duration.ofSeconds(7));
        assertThat(answer.on(0)).isEqualTo(new Reply.Queued(Duration.ofSeconds(7)));
        written(new Command.Release(holder));
        written(claim(holder, ResourceSpec.MUTEX, 1, Lease.detached(LENGTH), 1));
        answer = step().execute(mutex(ref("waiter", 1)));
        assertThat(facts.missingRemaining()).isEmpty();
        assertThat(answer.on(0)).isEqualTo(new Reply.Queued(LENGTH));
    }

    @Test
    @DisplayName("A refused try names a holder and its newest token")
    void refusedTry() {
        clock = Clock.REVISIONS;
        ClaimRef holder = ref("holder", 1);
        TokenBlock block = tokens(written(claim(holder, ResourceSpec.MUTEX, 1, Lease.SESSION, 3)));
        Step step = step();
        Answer answer = step.execute(
                new Acquire(ref("another", 1), 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.TRY, 1));
        assertThat(answer.on(step.base(record)))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        refused ->
                                assertThat(refused.detail()).isEqualTo("'label' holds it with token " + block.last()));
    }

    private static boolean isAwaited(Step step, ClaimRef holder) {
        return ((Reply.Granted) step.poll(holder).on(0)).awaited();
    }

    // ---- What a record shows of a claim

    @Test
    @DisplayName("An announcement is outdated once the claim, or a later one of its session, holds or waits")
    void outdatedAnnouncements() {
        written(mutex(ref("holder", 2)));
        assertThat(step().containsSince(ref("waiter", 1))).isFalse();
        written(mutex(ref("waiter", 2)));
        for (String session : List.of("holder", "waiter")) {
            assertThat(step().containsSince(ref(session, 1))).isTrue();
            assertThat(step().containsSince(ref(session, 2))).isTrue();
            assertThat(step().containsSince(ref(session, 3))).isFalse();
            assertThat(step().contains(ref(session, 2))).isTrue();
            assertThat(step().contains(ref(session, 1))).isFalse();
        }
        assertThat(step().containsSince(ref("another", 1))).isFalse();
    }

    @Test
    @DisplayName("A claim that has ended is in the record until a step is written")
    void endedClaimsInTheRecord() {
        for (int i = 1; i <= 2; i++) {
            written(claim(ref("holder", i), semaphore(2), 1, Lease.bounded(LENGTH), 1));
        }
        now += LENGTH.toNanos() / 1_000;
        Step step = step();
        assertThat(step.contains(ref("holder", 1))).isFalse();
        assertThat(step.containedBefore(ref("holder", 1))).isTrue();
        assertThat(step.containedBefore(ref("holder", 3))).isFalse();
        assertThat(step.partiesBefore()).isEqualTo(2);
        assertThat(step.view().parties()).isZero();
        assertThat(step().isIdle()).isTrue();
        write(step);
        assertThat(step().containedBefore(ref("holder", 1))).isFalse();
        assertThat(step().partiesBefore()).isZero();
    }

    @Test
    @DisplayName("A session whose claim a write adds or ends is a condition of the write, and no other one")
    void changedIndex() {
        ClaimRef holder = ref("holder", 1);
        ClaimRef waiter = ref("waiter", 1);
        written(mutex(holder));
        Step queues = step();
        executed(queues, mutex(waiter));
        assertThat(queues.changesIndexOf(waiter.session())).isTrue();
        assertThat(queues.changesIndexOf(holder.session())).isFalse();
        write(queues);
        assertThat(step().changesIndexOf(holder.session())).isFalse();
        Step release = step();
        executed(release, new Command.Release(holder));
        assertThat(release.changesIndexOf(holder.session())).isTrue();
        assertThat(release.changesIndexOf(waiter.session())).isTrue();
        assertThat(release.changesIndexOf(new SessionId("another"))).isFalse();
    }
}
