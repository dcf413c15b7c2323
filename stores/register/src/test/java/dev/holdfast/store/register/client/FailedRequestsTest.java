package dev.holdfast.store.register.client;

import static dev.holdfast.store.register.Commands.answer;
import static dev.holdfast.store.register.Commands.claim;
import static dev.holdfast.store.register.Commands.mutex;
import static dev.holdfast.store.register.Commands.open;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterTraits.Clock;
import dev.holdfast.store.register.memory.MemoryAdapter;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A command one of whose requests fails")
class FailedRequestsTest {

    private static final Duration TTL = Duration.ofMinutes(1);

    @AutoClose
    private final SystemTime time = new SystemTime("failed-requests-test");

    private final MemoryRegister server = new MemoryRegister(Clock.REVISIONS, () -> 1);
    private final MemoryAdapter observer = server.connect();

    /** The requests that fail, with what they may have done. */
    private final Map<String, Effect> failing = new HashMap<>();

    /** The requests that the adapter fails to make. */
    private final Set<String> throwing = new HashSet<>();

    private final Set<String> requests = new HashSet<>();

    /** What others do while the next writes are on their way. */
    private final Deque<Runnable> meanwhile = new ArrayDeque<>();

    private final Set<SessionId> leases = new HashSet<>();

    @AutoClose
    private final RegisterStore other = RegisterStore.over(server.connect(), time);

    @AutoClose
    private final RegisterStore store = RegisterStore.over(adapter(), time);

    private final ClaimRef claim = new ClaimRef(new ResourceName("lock"), open(store, TTL), 1);
    private final ClaimRef others = new ClaimRef(claim.resource(), open(other, TTL), 1);

    private RegisterAdapter adapter() {
        RegisterAdapter memory = server.connect();
        return (RegisterAdapter) Proxy.newProxyInstance(
                RegisterAdapter.class.getClassLoader(),
                new Class<?>[] {RegisterAdapter.class},
                (proxy, method, arguments) -> {
                    requests.add(method.getName());
                    if (throwing.contains(method.getName())) {
                        throw new IllegalStateException("it can't be made");
                    }
                    Effect effect = failing.get(method.getName());
                    if (effect != null) {
                        return CompletableFuture.failedFuture(
                                new StoreException(StoreException.Reason.UNAVAILABLE, effect, "it failed", null));
                    }
                    if (method.getName().equals("write") && !meanwhile.isEmpty()) {
                        meanwhile.remove().run();
                    }
                    Object result = method.invoke(memory, arguments);
                    if (method.getName().equals("openLease")) {
                        leases.add(((OpenedSession) result(result)).id());
                    }
                    return result;
                });
    }

    private static Object result(Object stage) {
        return ((CompletionStage<?>) stage).toCompletableFuture().join();
    }

    /** Executes a command that fails. */
    private Effect effectOf(Command command) {
        CompletableFuture<Reply> reply =
                store.execute(command, CallerMode.ASYNC).toCompletableFuture();
        assertThat(reply).isCompletedExceptionally();
        assertThatThrownBy(reply::join).hasCauseInstanceOf(StoreException.class);
        return reply.handle((none, failure) -> ((StoreException) failure).effect())
                .join();
    }

    @Test
    @DisplayName("had no effect if it was a read")
    void read() {
        assertThat(answer(store, mutex(claim, Waiting.TRY))).isInstanceOf(Reply.Granted.class);
        failing.put("read", Effect.UNKNOWN);
        assertThat(effectOf(new Command.Poll(List.of(claim)))).isEqualTo(Effect.NONE);
    }

    @Test
    @DisplayName("had no effect if the record is damaged, and leaves it as it is")
    void damaged() {
        assertThat(answer(other, mutex(others, Waiting.TRY))).isInstanceOf(Reply.Granted.class);
        server.damage(claim.resource());
        byte[] before = server.read(claim.resource()).state().orElseThrow();
        assertThat(effectOf(mutex(claim, Waiting.QUEUE))).isEqualTo(Effect.NONE);
        assertThat(effectOf(new Command.Release(claim))).isEqualTo(Effect.NONE);
        assertThat(server.read(claim.resource()).state()).hasValue(before);
    }

    @Test
    @DisplayName("fails too if the damage is found by a peek, which follows a wrong guess")
    void damagedAtAPeek() {
        for (int i = 1; i <= 2; i++) {
            ResourceName name = new ResourceName("lock " + i);
            assertThat(answer(other, mutex(new ClaimRef(name, others.session(), i), Waiting.TRY)))
                    .isInstanceOf(Reply.Granted.class);
            assertThat(answer(store, mutex(new ClaimRef(name, claim.session(), i), Waiting.TRY)))
                    .isInstanceOf(Reply.Refused.class);
        }
        assertThat(requests).contains("peek");
        assertThat(answer(other, mutex(others, Waiting.TRY))).isInstanceOf(Reply.Granted.class);
        server.damage(claim.resource());
        assertThat(effectOf(mutex(claim, Waiting.QUEUE))).isEqualTo(Effect.NONE);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("had the effect of the write, and leaves a lease that the server keeps only if it may have a claim")
    void write(Effect effect) {
        failing.put("write", effect);
        assertThat(effectOf(claim(claim, ResourceSpec.MUTEX, 1, Lease.bounded(TTL), Waiting.TRY)))
                .isEqualTo(effect);
        assertThat(leases).hasSize(1);
        assertThat(((Map<?, ?>) result(observer.sessions(leases))).isEmpty()).isEqualTo(effect == Effect.NONE);
    }

    @Test
    @DisplayName("may have an effect if its claim was announced, which is retracted")
    void announced() {
        meanwhile.add(() -> {
            assertThat(answer(other, mutex(others, Waiting.TRY))).isInstanceOf(Reply.Granted.class);
            assertThat(answer(other, mutex(new ClaimRef(claim.resource(), others.session(), 2), Waiting.QUEUE)))
                    .isInstanceOf(Reply.Queued.class);
        });
        meanwhile.add(() -> assertThat(
                        answer(other, mutex(new ClaimRef(claim.resource(), others.session(), 3), Waiting.QUEUE)))
                .isInstanceOf(Reply.Queued.class));
        failing.put("arrivals", Effect.NONE);
        assertThat(effectOf(mutex(claim, Waiting.QUEUE))).isEqualTo(Effect.UNKNOWN);
        assertThat(meanwhile).isEmpty();
        assertThat(requests).contains("announce", "retract");
        assertThat(observer.arrivals(claim.resource())
                        .toCompletableFuture()
                        .join()
                        .waiting())
                .isEmpty();
    }

    @Test
    @DisplayName("ends the lease of a claim that it releases")
    void leaseOfAReleasedClaim() {
        assertThat(answer(store, claim(claim, ResourceSpec.MUTEX, 1, Lease.bounded(TTL), Waiting.TRY)))
                .isInstanceOf(Reply.Granted.class);
        assertThat(((Map<?, ?>) result(observer.sessions(leases)))).hasSize(1);
        assertThat(answer(store, new Command.Release(claim))).isInstanceOf(Reply.Released.class);
        assertThat(((Map<?, ?>) result(observer.sessions(leases)))).isEmpty();
    }

    @Test
    @DisplayName("has its answer, and delays no later command, if what fails is the end of a lease after its write")
    void endOfALease() {
        assertThat(answer(store, claim(claim, ResourceSpec.MUTEX, 1, Lease.bounded(TTL), Waiting.TRY)))
                .isInstanceOf(Reply.Granted.class);
        throwing.add("closeSession");
        assertThat(answer(store, new Command.Release(claim))).isInstanceOf(Reply.Released.class);
        throwing.clear();
        assertThat(answer(store, mutex(new ClaimRef(claim.resource(), claim.session(), 2), Waiting.TRY)))
                .isInstanceOf(Reply.Granted.class);
    }
}
