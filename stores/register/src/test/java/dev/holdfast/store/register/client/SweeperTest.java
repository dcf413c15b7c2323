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
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.WriteResult;
import dev.holdfast.store.register.memory.MemoryAdapter;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
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

    /** A clock that the test moves, without timers. */
    private final class StillTime extends ManualTime {
        StillTime() {
            super(micros, system);
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            return system.schedule(Long.MAX_VALUE / 4, task);
        }
    }
}
