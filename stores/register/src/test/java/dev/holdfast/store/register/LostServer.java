package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** What becomes of a session when the server is lost that its client is connected to. For each store on registers. */
public final class LostServer {

    private LostServer() {}

    /**
     * Tests that an acknowledged keep-alive gives a session its ttl even if its server is lost before it can report the
     * client to another one.
     *
     * @param client connected to the server that is lost, and silent before the keep-alive
     * @param observer connected to the others
     * @param session of the client
     * @param lose stops the server
     */
    public static void takesNothingFromASession(
            RegisterAdapter client, RegisterAdapter observer, OpenedSession session, Runnable lose) {
        long sent = System.nanoTime();
        assertThat(AdapterHarness.answer(client.keepAlive(session.id(), 0, Duration.ofSeconds(10))))
                .contains(0L);
        lose.run();
        Duration promised = session.ttl().minus(client.traits().ttlGranularity());
        while (lives(observer, session)) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
        Duration lived = Duration.ofNanos(System.nanoTime() - sent);
        assertThat(lived).as("how long the session has lived").isGreaterThanOrEqualTo(promised);
    }

    private static boolean lives(RegisterAdapter observer, OpenedSession session) {
        return !AdapterHarness.answer(observer.sessions(Set.of(session.id()))).isEmpty();
    }
}
