package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Who looks on is told what becomes of the session, and of each command")
@Tag("Z7")
class SessionListenerTest {

    /** Records all events. */
    private static final class Diary implements HoldfastListener {
        final List<SessionEvent> events = new CopyOnWriteArrayList<>();
        final List<StoreCall> calls = new CopyOnWriteArrayList<>();

        @Override
        public @Nullable AcquisitionListener onRequested(AcquireRequest request) {
            return null;
        }

        @Override
        public void onSession(SessionEvent event) {
            events.add(event);
        }

        @Override
        public void onStoreCall(StoreCall call) {
            calls.add(call);
        }

        List<String> types() {
            return events.stream()
                    .map(event -> event.type()
                            + event.cause().map(cause -> " " + cause).orElse(""))
                    .toList();
        }

        List<String> callsOf(String command) {
            return calls.stream()
                    .filter(call -> call.command().equals(command))
                    .map(call -> call.outcome() + " " + call.duration())
                    .toList();
        }
    }

    private final World world = World.still();
    private final FaultyLink link = world.link();
    private final Diary diary = new Diary();
    private final Holdfast client = world.client(world.builder("alice", link).listener(diary));

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    @DisplayName("opened, renewed by each keep-alive, and closed with the client")
    void life() {
        world.advance(Duration.ofSeconds(25));
        client.close();
        assertThat(diary.types()).containsExactly("OPENED", "RENEWED", "RENEWED", "CLOSED");
        assertThat(diary.events).allSatisfy(event -> {
            assertThat(event.store()).isEqualTo("memory");
            assertThat(event.partition()).isZero();
        });
    }

    @Test
    @DisplayName("closed and no more, when a keep-alive that is under way finds that the session has ended by that")
    void keepAliveWhileClosing() {
        FaultyLink.HeldUp late = link.holdUpNext(Command.KeepAlive.class);
        world.advance(Duration.ofSeconds(10));
        SessionId session = link.sent(Command.KeepAlive.class).get(0).session();
        link.runBeforeNext(Command.CloseSession.class, () -> {
            var unused = world.ask(new Command.CloseSession(session));
            late.proceed();
        });
        client.close();
        assertThat(diary.types()).containsExactly("OPENED", "CLOSED");
    }

    @Test
    @DisplayName("in doubt when the machine may have been frozen, once, and settled when the store has answered")
    void doubt() throws Exception {
        Hold hold = client.lock("ledger").acquire();
        FaultyLink.HeldUp late = link.holdUpNext(Command.KeepAlive.class);
        world.time().stepWall(Duration.ofSeconds(20));
        assertThat(hold.isHeld()).isFalse();
        world.advance(Duration.ofSeconds(4));
        assertThat(diary.types()).containsExactly("OPENED", "IN_DOUBT");
        late.proceed();
        assertThat(diary.types()).containsExactly("OPENED", "IN_DOUBT", "RENEWED", "SETTLED");
        assertThat(hold.isHeld()).isTrue();
        hold.close();
    }

    @Test
    @DisplayName("lost with the cause when no keep-alive was acknowledged in time, and another opened")
    void loss() {
        link.cut();
        world.advance(Duration.ofSeconds(40));
        assertThat(diary.types()).containsExactly("OPENED", "LOST EXPIRED");
        link.mend();
        world.advance(Duration.ofSeconds(10));
        assertThat(diary.types()).startsWith("OPENED", "LOST EXPIRED", "OPENED");
    }

    @Test
    @DisplayName("each command once, with the time until its answer")
    void answered() throws Exception {
        FaultyLink.HeldUp slow = link.holdUpNext(Command.Acquire.class);
        var acquiring = client.lock("ledger").acquireAsync().toCompletableFuture();
        world.advance(Duration.ofMillis(300));
        assertThat(diary.callsOf("acquire")).isEmpty();
        slow.proceed();
        Eventually.holds("it is granted", acquiring::isDone);
        assertThat(diary.callsOf("acquire")).containsExactly("ANSWERED PT0.3S");
        acquiring.join().close();
        assertThat(diary.callsOf("release")).containsExactly("ANSWERED PT0S");
        assertThat(diary.callsOf("open-session")).containsExactly("ANSWERED PT0S");
    }

    @Test
    @DisplayName("a command that failed, and one that was not answered in time, whose late answer is not told")
    void failed() throws Exception {
        link.failNext(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
        world.advance(Duration.ofSeconds(10));
        assertThat(diary.callsOf("keep-alive")).contains("FAILED PT0S");
        FaultyLink.HeldUp late = link.holdUpNext(Command.KeepAlive.class);
        world.advance(Duration.ofSeconds(20));
        assertThat(diary.callsOf("keep-alive")).anyMatch(call -> call.startsWith("TIMED_OUT PT5S"));
        int before = diary.callsOf("keep-alive").size();
        late.proceed();
        assertThat(diary.callsOf("keep-alive")).hasSize(before);
    }

    @Test
    @DisplayName("what a listener throws does no harm to the session")
    void failing() throws Exception {
        HoldfastListener failing = new HoldfastListener() {
            @Override
            public @Nullable AcquisitionListener onRequested(AcquireRequest request) {
                return null;
            }

            @Override
            public void onSession(SessionEvent event) {
                throw new IllegalStateException("a listener's own trouble");
            }

            @Override
            public void onStoreCall(StoreCall call) {
                throw new IllegalStateException("a listener's own trouble");
            }
        };
        Holdfast watched = world.client(world.builder("bob").listener(failing));
        Hold hold = watched.lock("ledger").acquire();
        world.advance(Duration.ofMinutes(2));
        assertThat(hold.isHeld()).isTrue();
        hold.close();
    }
}
