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
import dev.holdfast.store.register.RegisterTraits.Clock;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Whose liveness decides the answers of a step. */
class DecisivePartiesTest extends StepFixture {

    @Test
    @DisplayName("The waiters before a claim matter, unless the whole capacity is held and it only queues")
    void decisiveParties() {
        ClaimRef holder = ref("holder", 1);
        ClaimRef waiter = ref("waiter", 1);
        ClaimRef next = ref("next", 1);
        ResourceSpec spec = semaphore(3);
        written(claim(holder, spec, 2));
        written(claim(waiter, spec, 3));
        Step roomIsLeft = step();
        executed(roomIsLeft, claim(next, spec, 1));
        assertThat(roomIsLeft.decisive(16)).contains(holder.session(), waiter.session());
        written(new Command.Resize(NAME, holder.session(), 0, 2));
        written(claim(waiter, semaphore(3), 1));
        Step onlyQueues = step();
        executed(onlyQueues, claim(next, spec, 1));
        assertThat(onlyQueues.decisive(16)).containsExactly(holder.session());
        assertThat(onlyQueues.poll(waiter).on(0)).isInstanceOf(Reply.Queued.class);
        assertThat(onlyQueues.decisive(16)).contains(holder.session(), waiter.session());
        assertThat(step().decisive(16)).contains(holder.session(), waiter.session());
    }

    @Test
    @DisplayName("The sessions of the commands decide, under the lowest epoch of their commands")
    void sessionsOfTheCommands() {
        written(mutex(ref("holder", 1)));
        Step step = step();
        for (long epoch : List.of(3L, 2L, 4L)) {
            Acquire attempt = new Acquire(
                    ref("another", epoch), epoch, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.TRY, 1);
            assertThat(executed(step, attempt)).isInstanceOf(Reply.Refused.class);
        }
        assertThat(step.isChange()).isFalse();
        assertThat(step.writers()).isEqualTo(Map.of(new SessionId("another"), 2L));
    }

    @Test
    @DisplayName("In their turns all holders are checked, a few at a time")
    void holdersInTurn() {
        Set<SessionId> holders = new HashSet<>();
        for (int i = 1; i <= 5; i++) {
            ClaimRef holder = ref("holder-" + i, 1);
            written(claim(holder, semaphore(5), 1));
            holders.add(holder.session());
        }
        Set<SessionId> checked = new HashSet<>();
        for (int turn = 7; turn < 10; turn++) {
            Set<SessionId> some = step().holdersInTurn(2, turn);
            assertThat(some).hasSizeLessThanOrEqualTo(2);
            checked.addAll(some);
        }
        assertThat(checked).isEqualTo(holders);
    }

    @Test
    @DisplayName("A poll depends on the waiters before its claim, whatever else the step does")
    void pollBesideAClaim() {
        ClaimRef holder = ref("holder", 1);
        ClaimRef waiter = ref("waiter", 1);
        written(mutex(holder));
        written(mutex(waiter));
        Step step = step();
        executed(step, mutex(ref("next", 1)));
        executed(step, new Command.Withdraw(ref("another", 1), Sending.FIRST));
        assertThat(step.poll(waiter).on(0)).isInstanceOf(Reply.Queued.class);
        assertThat(step.decisive(16)).contains(holder.session(), waiter.session());
    }

    @Test
    @DisplayName(
            "The sessions and the server's leases of the first claims decide, and no more of them than are checked")
    void firstParties() {
        clock = Clock.REVISIONS;
        for (int i = 1; i <= 3; i++) {
            write(withLease(
                    claim(ref("s" + i, 1), semaphore(3), 1, Lease.bounded(LENGTH), 1), new SessionId("lease-" + i)));
        }
        List<SessionId> all = List.of(
                new SessionId("s1"),
                new SessionId("lease-1"),
                new SessionId("s2"),
                new SessionId("lease-2"),
                new SessionId("s3"),
                new SessionId("lease-3"));
        for (int most = 0; most <= all.size(); most++) {
            assertThat(step().parties(most)).containsExactlyElementsOf(all.subList(0, most));
        }
    }

    @Test
    @DisplayName("The lease of the only holder decides too, and its session only if the claim ends with it")
    void onlyPartyWithALease() {
        clock = Clock.REVISIONS;
        ClaimRef holder = ref("holder", 1);
        SessionId lease = new SessionId("lease");
        write(withLease(claim(holder, ResourceSpec.MUTEX, 1, Lease.bounded(LENGTH), 1), lease));
        assertThat(step().parties(16)).containsExactly(holder.session(), lease);
        written(new Command.Release(holder));
        write(withLease(claim(holder, ResourceSpec.MUTEX, 1, Lease.detached(LENGTH), 1), lease));
        assertThat(step().parties(16)).containsExactly(lease);
    }
}
