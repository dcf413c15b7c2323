package dev.holdfast.store.register;

import static dev.holdfast.store.register.Commands.answer;
import static dev.holdfast.store.register.Commands.open;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A client that dies while it holds a permit of a semaphore. Living, idle clients hold the others: a waiter must notice
 * the death.
 */
public final class DeadHolder {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final ResourceName NAME = new ResourceName("crowd");

    private final ResourceSpec semaphore;
    private long claims;

    private DeadHolder(int permits) {
        this.semaphore = new ResourceSpec(Kind.SEMAPHORE, permits, Order.FAIR);
    }

    /**
     * Fails unless a claim that waits is admitted when the dead client's session has ended.
     *
     * @param living a client whose sessions hold all permits but one
     * @param waiting another one
     * @param dying one that is closed without the end of its session, which has a ttl of two seconds
     * @param sessions how many sessions hold permits
     * @param permitsEach how many permits each of them holds, by a claim for each
     * @param letTimePass what lets some of that time pass
     */
    public static void isNoticed(
            LockStore living, LockStore waiting, LockStore dying, int sessions, int permitsEach, Runnable letTimePass) {
        DeadHolder crowd = new DeadHolder(sessions * permitsEach + 1);
        for (int i = 0; i < sessions; i++) {
            SessionId session = open(living, LONG);
            for (int k = 0; k < permitsEach; k++) {
                assertThat(crowd.acquire(living, crowd.claim(session))).isInstanceOf(Reply.Granted.class);
            }
        }
        ClaimRef last = crowd.claim(open(dying, Duration.ofSeconds(2)));
        assertThat(crowd.acquire(dying, last)).isInstanceOf(Reply.Granted.class);
        dying.close();
        ClaimRef next = crowd.claim(open(waiting, LONG));
        assertThat(crowd.acquire(waiting, next)).isInstanceOfAny(Reply.Queued.class, Reply.Granted.class);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!(crowd.state(waiting, next) instanceof Reply.Granted)) {
            assertThat(System.nanoTime() - deadline)
                    .as("the end of the dead client is noticed within " + PATIENCE)
                    .isNegative();
            letTimePass.run();
            LockSupport.parkNanos(20_000_000);
        }
    }

    private ClaimRef claim(SessionId session) {
        return new ClaimRef(NAME, session, ++claims);
    }

    private Reply acquire(LockStore store, ClaimRef claim) {
        return answer(store, Commands.claim(claim, semaphore, 1, Lease.SESSION, Waiting.QUEUE));
    }

    private Reply state(LockStore store, ClaimRef claim) {
        return ((Reply.Polled) answer(store, new Command.Poll(List.of(claim))))
                .states()
                .get(0);
    }
}
