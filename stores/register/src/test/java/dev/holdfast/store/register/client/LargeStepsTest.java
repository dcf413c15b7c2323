package dev.holdfast.store.register.client;

import static dev.holdfast.store.register.Commands.answer;
import static dev.holdfast.store.register.Commands.open;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.store.register.Commands;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.memory.MemoryAdapter;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Commands that end more claims than one write can change. */
class LargeStepsTest {

    private static final int MOST_CHANGES = 120;
    private static final int MANY = 300;
    private static final ResourceName NAME = new ResourceName("crowd");

    private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
    private final MemoryRegister server = new MemoryRegister(RegisterTraits.Clock.WALL, micros::get, MOST_CHANGES);
    private final RegisterStore store = RegisterStore.over(server.connect());
    private final RegisterStore other = RegisterStore.over(server.connect());

    @AfterEach
    void close() {
        store.close();
        other.close();
    }

    private static SessionId session(RegisterStore store) {
        return open(store, Duration.ofMinutes(10));
    }

    private static Acquire claim(SessionId session, long number, int weight, int capacity, Lease lease) {
        ResourceSpec semaphore = new ResourceSpec(Kind.SEMAPHORE, capacity, Order.FAIR);
        return Commands.claim(new ClaimRef(NAME, session, number), semaphore, weight, lease, Waiting.QUEUE);
    }

    private Set<ClaimRef> audited(SessionId session) {
        Reply.Audited audited = (Reply.Audited) answer(store, new Command.Audit(session, Optional.empty(), 1_000));
        Set<ClaimRef> all = ConcurrentHashMap.newKeySet();
        all.addAll(audited.granted());
        all.addAll(audited.waiting());
        return all;
    }

    @Test
    void resizeEndsAllWhoWaitForMoreThanThereIs() {
        Set<ClaimRef> told = ConcurrentHashMap.newKeySet();
        try (var subscription = store.subscribe(signal -> {
            if (signal instanceof Signal.Changed changed) {
                told.add(changed.claim());
            }
        })) {
            SessionId holder = session(other);
            assertThat(answer(other, claim(holder, 1, 2, 2, Lease.SESSION))).isInstanceOf(Reply.Granted.class);
            List<ClaimRef> waiters = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                Acquire waits = claim(session(store), 1, 2, 2, Lease.SESSION);
                assertThat(answer(store, waits)).isInstanceOf(Reply.Queued.class);
                waiters.add(waits.claim());
            }
            Acquire light = claim(session(store), 1, 1, 2, Lease.SESSION);
            assertThat(answer(store, light)).isInstanceOf(Reply.Queued.class);
            assertThat(answer(other, new Command.Resize(NAME, holder, 0, 1))).isEqualTo(new Reply.Done());
            Reply.Polled polled = (Reply.Polled) answer(store, new Command.Poll(waiters));
            assertThat(polled.states()).hasSize(MANY).containsOnly(new Reply.Absent());
            assertThat(told).containsAll(waiters);
            assertThat(waiters)
                    .allSatisfy(claim -> assertThat(audited(claim.session())).isEmpty());
            assertThat(answer(other, new Command.Release(new ClaimRef(NAME, holder, 1))))
                    .isEqualTo(new Reply.Released());
            assertThat(answer(store, new Command.Poll(List.of(light.claim()))))
                    .isInstanceOfSatisfying(
                            Reply.Polled.class,
                            state -> assertThat(state.states()).first().isInstanceOf(Reply.Granted.class));
        }
    }

    @Test
    void noEntryOutlivesItsClaimWhenManyLeasesEndAtOnce() {
        SessionId session = session(store);
        Lease bounded = new Lease(Lease.Binding.BOUNDED, Duration.ofSeconds(1));
        for (int i = 1; i <= MANY; i++) {
            assertThat(answer(store, claim(session, i, 1, MANY, bounded))).isInstanceOf(Reply.Granted.class);
        }
        assertThat(audited(session)).hasSize(MANY);
        micros.addAndGet(2_000_000);
        assertThat(answer(store, new Command.Release(new ClaimRef(NAME, session, MANY))))
                .isEqualTo(new Reply.Absent());
        assertThat(audited(session)).isEmpty();
        assertThat(answer(other, claim(session(other), 1, MANY, MANY, Lease.SESSION)))
                .isInstanceOf(Reply.Granted.class);
    }

    @Test
    void callsThatComeDuringAWriteShareTheNextOnesAsFarAsTheyFit() {
        CompletableFuture<Boolean> delayed = new CompletableFuture<>();
        try (RegisterStore slow = RegisterStore.over(withWritesAfter(delayed))) {
            SessionId session = session(slow);
            List<CompletableFuture<Reply>> replies = new ArrayList<>();
            for (int i = 1; i <= MANY; i++) {
                replies.add(slow.execute(claim(session, i, 1, MANY, Lease.SESSION), CallerMode.ASYNC)
                        .toCompletableFuture());
            }
            assertThat(replies).noneMatch(CompletableFuture::isDone);
            assertThat(delayed.complete(true)).isTrue();
            assertThat(replies)
                    .allSatisfy(
                            reply -> assertThat(reply).isCompletedWithValueMatching(Reply.Granted.class::isInstance));
            assertThat(audited(session)).hasSize(MANY);
        }
    }

    private RegisterAdapter withWritesAfter(CompletableFuture<Boolean> first) {
        MemoryAdapter memory = server.connect();
        return (RegisterAdapter) Proxy.newProxyInstance(
                RegisterAdapter.class.getClassLoader(),
                new Class<?>[] {RegisterAdapter.class},
                (proxy, method, arguments) -> method.getName().equals("write")
                        ? first.thenCompose(done -> memory.write((ConditionalWrite) arguments[0]))
                        : method.invoke(memory, arguments));
    }
}
