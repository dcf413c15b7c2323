package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The end of an adapter. */
abstract class ClosingRules extends AdapterHarness {

    private static final long JOIN_MILLIS = 60_000;

    @Test
    @DisplayName("close ends the threads that the adapter started, and may be called again")
    void threadsEnd() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        RegisterAdapter carol = another(new Inbox());
        OpenedSession session = session(carol);
        carol.watchSessions(Set.of(session(alice).id()));
        ResourceName name = named("used");
        written(carol, by(put(name, present(name), "state"), session, 0));
        Set<Thread> during = new HashSet<>(Thread.getAllStackTraces().keySet());
        during.removeAll(before);
        during.removeIf(thread -> !thread.getName().startsWith("holdfast"));
        carol.close();
        // Nothing runs in them any more; a pool counts a thread as ended some instructions before it is.
        for (Thread thread : during) {
            thread.join(JOIN_MILLIS);
        }
        assertThat(during).noneMatch(Thread::isAlive);
        carol.close();
    }

    @Test
    @DisplayName("a session stays when the adapter that opened it is closed")
    void sessionsStay() throws Exception {
        RegisterAdapter carol = another(new Inbox());
        OpenedSession session = session(carol);
        carol.close();
        assertThat(lives(bob, session.id())).isTrue();
    }

    @Test
    @DisplayName("what is asked after the end was not sent")
    void closedIsTold() throws Exception {
        RegisterAdapter carol = another(new Inbox());
        OpenedSession session = session(carol);
        ResourceName name = named("closed");
        RecordVersion none = present(name);
        carol.close();
        Stream<CompletionStage<?>> asked = Stream.of(
                carol.read(name),
                carol.write(put(name, none, "late")),
                carol.announce(new Arrival(claim(name, session, 1), 0, bytes("late")), Map.of()),
                carol.arrivals(name),
                carol.retract(new Arrival(claim(name, session, 1), 0, bytes("late"))),
                carol.openSession(longTtl(), "late"),
                carol.keepAlive(session.id(), 0, Duration.ofSeconds(1)),
                carol.raiseEpoch(session.id(), 1),
                carol.closeSession(session.id()),
                carol.sessions(Set.of(session.id())),
                carol.remaining(Set.of(session.id())),
                carol.claims(session.id(), Optional.empty(), 10),
                carol.list("", Optional.empty(), 1));
        assertThat(asked)
                .allSatisfy(stage -> assertThat(failure(stage)).isInstanceOfSatisfying(StoreException.class, e -> {
                    assertThat(e.reason()).isEqualTo(StoreException.Reason.CLOSED);
                    assertThat(e.effect()).isEqualTo(StoreException.Effect.NONE);
                }));
        assertThat(text(name)).isEqualTo("(none)");
    }

    @Test
    @DisplayName("what is under way at the end is answered, or ends exceptionally")
    void whatIsUnderWayEnds() throws Exception {
        RegisterAdapter carol = another(new Inbox());
        ResourceName name = named("under way");
        RecordVersion none = present(name);
        CompletionStage<WriteResult> write = carol.write(put(name, none, "state"));
        carol.close();
        try {
            assertThat(write.toCompletableFuture().isDone()).isTrue();
            assertThat(write.toCompletableFuture().join()).isInstanceOf(WriteResult.Written.class);
            assertThat(text(name)).isEqualTo("state");
        } catch (CompletionException e) {
            assertThat(e.getCause()).isInstanceOf(StoreException.class);
        }
    }
}
