package dev.holdfast.store.register.client;

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
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.Commands;
import dev.holdfast.store.register.RegisterTraits.Clock;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.register.machine.ArrivalCodec;
import dev.holdfast.store.register.machine.MailCodec;
import dev.holdfast.store.register.memory.MemoryAdapter;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A holder that was notified of claims whose clients have died or given up since. */
class NoticedClaimsTest {

    private static final ResourceName NAME = new ResourceName("crowd");
    private static final Duration TTL = Duration.ofMinutes(1);
    private static final int CLAIMS = 20;

    private final MemoryRegister server = new MemoryRegister(Clock.WALL, () -> 1_750_000_000_000_000L);
    private final MemoryAdapter others = server.connect();

    /** What has become of the claims since they were announced. */
    enum Since {
        ENDED {
            @Override
            void befall(MemoryAdapter others, SessionId session) {
                var unused = answer(others.closeSession(session).thenApply(done -> true));
            }
        },
        GIVEN_UP {
            @Override
            void befall(MemoryAdapter others, SessionId session) {
                assertThat(answer(others.raiseEpoch(session, 1))).contains(1L);
            }
        };

        abstract void befall(MemoryAdapter others, SessionId session);
    }

    private static <T> T answer(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    @ParameterizedTest
    @EnumSource
    void releaseLearnsAtOnceOfAllThatAreVoid(Since since) {
        try (SystemTime time = new SystemTime("noticed-claims-test");
                RegisterStore store = RegisterStore.over(server.connect(), time)) {
            SessionId holder = open(store, TTL);
            ClaimRef held = new ClaimRef(NAME, holder, 1);
            assertThat(Commands.answer(store, mutex(held, Waiting.QUEUE))).isInstanceOf(Reply.Granted.class);
            for (int i = 0; i < CLAIMS; i++) {
                SessionId session = answer(others.openSession(TTL, "other")).id();
                announce(session, holder);
                since.befall(others, session);
            }
            long before = server.requests();
            assertThat(Commands.answer(store, new Command.Release(held))).isInstanceOf(Reply.Released.class);
            assertThat(server.requests() - before).isLessThanOrEqualTo(2);
        }
    }

    @Test
    void pollOfTheHolderShowsThatOthersWait() {
        try (SystemTime time = new SystemTime("noticed-claims-test");
                RegisterStore store = RegisterStore.over(server.connect(), time)) {
            SessionId holder = open(store, TTL);
            ClaimRef held = new ClaimRef(NAME, holder, 1);
            assertThat(Commands.answer(store, mutex(held, Waiting.QUEUE))).isInstanceOf(Reply.Granted.class);
            assertThat(isAwaited(store, held)).isFalse();
            announce(answer(others.openSession(TTL, "other")).id(), holder);
            assertThat(isAwaited(store, held)).isTrue();
        }
    }

    private static boolean isAwaited(RegisterStore store, ClaimRef held) {
        Reply.Polled polled = (Reply.Polled) Commands.answer(store, new Command.Poll(List.of(held)));
        return ((Reply.Granted) polled.states().get(0)).awaited();
    }

    private void announce(SessionId session, SessionId holder) {
        Arrival arrival = ArrivalCodec.encode(
                mutex(new ClaimRef(NAME, session, 1), Waiting.QUEUE), new SessionRecord(0, "other", TTL));
        assertThat(answer(others.announce(arrival, Map.of(holder, MailCodec.encode(arrival, 1)))))
                .contains(0L);
    }
}
