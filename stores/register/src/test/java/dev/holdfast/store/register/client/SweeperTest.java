package dev.holdfast.store.register.client;

import static dev.holdfast.store.register.Commands.answer;
import static dev.holdfast.store.register.Commands.mutex;
import static dev.holdfast.store.register.Commands.open;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.WriteResult;
import dev.holdfast.store.register.machine.Facts;
import dev.holdfast.store.register.machine.Step;
import dev.holdfast.store.register.memory.MemoryAdapter;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What happens to unused records. */
class SweeperTest {

    private static final int NAMES = 600;

    /** A record of a mutex with one holder, whose lease has a binding that does not exist. */
    private static final String UNKNOWN_BINDING = "68660101076d000101010273310161808080010100030001010000";

    private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);

    @AutoClose
    private final SystemTime system = new SystemTime("sweeper-test");

    private static SessionId session(RegisterStore store) {
        return open(store, Duration.ofDays(1));
    }

    private static void acquire(RegisterStore store, SessionId session, int number) {
        ClaimRef claim = new ClaimRef(new ResourceName("order-" + number), session, number);
        assertThat(answer(store, mutex(claim, Waiting.TRY))).isInstanceOf(Reply.Granted.class);
    }

    private int records(MemoryAdapter adapter) {
        return adapter.list("", Optional.empty(), 10_000)
                .toCompletableFuture()
                .join()
                .entries()
                .size();
    }

    /** How many claims all locks have. */
    private static int parties(MemoryAdapter adapter) {
        Facts facts = new Facts(new Sessions());
        facts.time(adapter.time());
        return adapter.list("order-", Optional.empty(), 10_000).toCompletableFuture().join().entries().stream()
                .mapToInt(entry -> new Step(entry.resource(), entry.record(), facts, adapter.traits()).partiesBefore())
                .sum();
    }

    private void pass(MemoryRegister server, Duration time) {
        micros.addAndGet(time.toNanos() / 1_000);
        server.expire();
    }

    @ParameterizedTest
    @EnumSource
    void recordsOfADeadClientAreRemovedByOthersThatComeAndGo(RegisterTraits.Clock clock) {
        MemoryRegister server = new MemoryRegister(clock, micros::get);
        MemoryAdapter reader = server.connect();
        write(server, new ResourceName("damaged"), new byte[] {1});
        write(server, new ResourceName("unknown binding"), HexFormat.of().parseHex(UNKNOWN_BINDING));
        try (RegisterStore living = RegisterStore.over(server.connect(), new StillTime())) {
            acquire(living, session(living), NAMES + 1);
            server.connect()
                    .closeSession(holderOfMany(server))
                    .toCompletableFuture()
                    .join();
            assertThat(records(reader)).isEqualTo(NAMES + 3);
            visits(server, 4);
            assertThat(parties(reader)).isEqualTo(1);
            if (clock == RegisterTraits.Clock.WALL) {
                assertThat(records(reader)).as("kept for an hour").isEqualTo(NAMES + 3);
            }
            pass(server, Duration.ofHours(1));
            visits(server, 4);
            assertThat(records(reader)).isEqualTo(3);
        }
    }

    private static void write(MemoryRegister server, ResourceName name, byte[] state) {
        assertThat(server.write(new ConditionalWrite(
                        name,
                        server.read(name).version(),
                        Optional.of(state),
                        0,
                        Map.of(),
                        Map.of(),
                        List.of(),
                        List.of())))
                .isInstanceOf(WriteResult.Written.class);
    }

    /** A session that holds many locks when its client has gone. */
    private SessionId holderOfMany(MemoryRegister server) {
        try (RegisterStore client = RegisterStore.over(server.connect(), new StillTime())) {
            SessionId session = session(client);
            for (int i = 1; i <= NAMES; i++) {
                acquire(client, session, i);
            }
            return session;
        }
    }

    /** Clients that live for a moment, one after another. */
    private void visits(MemoryRegister server, int count) {
        for (int i = 0; i < count; i++) {
            pass(server, Duration.ofSeconds(20));
            try (RegisterStore visitor = RegisterStore.over(server.connect(), new StillTime())) {
                assertThat(answer(visitor, new Command.CloseSession(session(visitor))))
                        .isEqualTo(new Reply.Done());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void workIsSharedByAllClients(RegisterTraits.Clock clock) {
        MemoryRegister server = new MemoryRegister(clock, micros::get);
        List<RegisterStore> clients = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            RegisterStore client = RegisterStore.over(server.connect(), new StillTime());
            clients.add(client);
            var unused = session(client);
        }
        assertThat(server.turns()).isEqualTo(1);
        clients.forEach(RegisterStore::close);
    }

    @Test
    void clientThatStaysRequestsATurnAgainEveryFewMinutesAlsoAfterAFailure() {
        MemoryRegister server = new MemoryRegister(RegisterTraits.Clock.WALL, micros::get);
        AtomicInteger requests = new AtomicInteger();
        StillTime time = new StillTime();
        try (RegisterStore client = RegisterStore.over(withTurns(server.connect(), requests), time)) {
            var unused = session(client);
            for (int i = 1; i <= 3; i++) {
                assertThat(requests).hasValue(i);
                assertThat(time.tasks).hasSize(1);
                assertThat(time.delays.remove())
                        .isBetween(
                                Duration.ofMinutes(1).toNanos(),
                                Duration.ofMinutes(2).toNanos());
                pass(server, Duration.ofMinutes(2));
                time.tasks.remove().run();
            }
            assertThat(server.turns()).as("without the one that failed").isEqualTo(3);
        }
        assertThat(time.tasks).isEmpty();
    }

    /** An adapter whose second request for a turn fails. */
    private static RegisterAdapter withTurns(MemoryAdapter memory, AtomicInteger requests) {
        return (RegisterAdapter) Proxy.newProxyInstance(
                RegisterAdapter.class.getClassLoader(),
                new Class<?>[] {RegisterAdapter.class},
                (proxy, method, arguments) -> method.getName().equals("takeTurn") && requests.incrementAndGet() == 2
                        ? CompletableFuture.failedFuture(new IllegalStateException("the server is away"))
                        : method.invoke(memory, arguments));
    }

    /** A clock that the test moves, with timers that it runs. */
    private final class StillTime extends ManualTime {

        private final Deque<Runnable> tasks = new ArrayDeque<>();
        private final Deque<Long> delays = new ArrayDeque<>();

        StillTime() {
            super(micros, system);
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            tasks.add(task);
            delays.add(delayNanos);
            return () -> tasks.remove(task);
        }
    }
}
