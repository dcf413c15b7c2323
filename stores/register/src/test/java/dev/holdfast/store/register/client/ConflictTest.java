package dev.holdfast.store.register.client;

import static dev.holdfast.store.register.Commands.answer;
import static dev.holdfast.store.register.Commands.mutex;
import static dev.holdfast.store.register.Commands.open;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterTraits.Clock;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A write that fails because another client has changed the record")
class ConflictTest {

    private static final ResourceName NAME = new ResourceName("hot");
    private static final Duration TTL = Duration.ofMinutes(1);

    /** How long a write takes, and so about how long a client pauses after a conflict. */
    private Duration writeTime = Duration.ofSeconds(1);

    @AutoClose
    private final SystemTime timers = new SystemTime("conflict-test");

    private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
    private final MemoryRegister server = new MemoryRegister(Clock.WALL, micros::get);

    /** What others do while the next writes are on their way. */
    private final Deque<Runnable> meanwhile = new ArrayDeque<>();

    @AutoClose
    private final RegisterStore other = over(server.connect());

    @AutoClose
    private final RegisterStore distant = over(withSlowWrites(server.connect()));

    private RegisterStore over(RegisterAdapter adapter) {
        return RegisterStore.over(adapter, new ManualTime(micros, timers));
    }

    private RegisterAdapter withSlowWrites(RegisterAdapter adapter) {
        return (RegisterAdapter) Proxy.newProxyInstance(
                RegisterAdapter.class.getClassLoader(),
                new Class<?>[] {RegisterAdapter.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("write") && !meanwhile.isEmpty()) {
                        micros.addAndGet(writeTime.toNanos() / 1_000);
                        meanwhile.remove().run();
                    }
                    return method.invoke(adapter, arguments);
                });
    }

    @Test
    @DisplayName("and added the claim: its answer is in the conflict, and needs no pause")
    void addedMeanwhile() {
        ClaimRef others = new ClaimRef(NAME, open(other, TTL), 1);
        ClaimRef own = new ClaimRef(NAME, open(distant, TTL), 1);
        meanwhile.add(() ->
                assertThat(answer(other, mutex(others, Waiting.QUEUE))).isInstanceOf(Reply.Granted.class));
        meanwhile.add(() -> {
            assertThat(answer(other, new Command.Release(others))).isInstanceOf(Reply.Released.class);
            assertThat(answer(other, mutex(own, Waiting.QUEUE))).isInstanceOf(Reply.Granted.class);
        });

        CompletableFuture<Reply> reply =
                distant.execute(mutex(own, Waiting.QUEUE), CallerMode.ASYNC).toCompletableFuture();

        assertThat(meanwhile).isEmpty();
        assertThat(reply).isCompletedWithValueMatching(Reply.Granted.class::isInstance);
    }

    @Test
    @DisplayName("again and again for more than a minute: the command fails without an effect")
    void forTooLong() {
        ClaimRef own = new ClaimRef(NAME, open(distant, TTL.multipliedBy(10)), 1);
        SessionId session = open(other, TTL.multipliedBy(10));
        writeTime = Duration.ofSeconds(21);
        for (int i = 1; i <= 4; i++) {
            ClaimRef others = new ClaimRef(NAME, session, i);
            meanwhile.add(() -> {
                assertThat(answer(other, mutex(others, Waiting.TRY))).isInstanceOf(Reply.Granted.class);
                assertThat(answer(other, new Command.Release(others))).isInstanceOf(Reply.Released.class);
            });
        }

        CompletableFuture<Reply> reply =
                distant.execute(mutex(own, Waiting.TRY), CallerMode.ASYNC).toCompletableFuture();

        assertThat(meanwhile).as("attempts that are left").hasSize(1);
        assertThat(reply).isCompletedExceptionally();
        assertThatThrownBy(reply::join)
                .hasCauseInstanceOf(StoreException.class)
                .hasMessageContaining("other clients changed the record of lock 'hot'")
                .extracting(failure -> ((StoreException) failure.getCause()).effect())
                .isEqualTo(StoreException.Effect.NONE);
        assertThat(answer(other, mutex(new ClaimRef(NAME, session, 9), Waiting.TRY)))
                .isInstanceOf(Reply.Granted.class);
    }
}
