package dev.holdfast.store.jdbc;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.support.Batcher;
import dev.holdfast.store.jdbc.server.BusyRowsLane;
import dev.holdfast.store.jdbc.server.ConnectionOrigin;
import dev.holdfast.store.jdbc.server.RowsBusyException;
import dev.holdfast.store.jdbc.server.ServerConnections;
import dev.holdfast.store.jdbc.server.ServerConnections.Use;
import dev.holdfast.store.jdbc.server.ServerLane;
import dev.holdfast.store.jdbc.server.ServerSessions;
import dev.holdfast.store.jdbc.server.SessionLanes;
import dev.holdfast.store.ledger.runtime.SystemClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Routes each command to its lane: commands about sessions only have lanes of their own, and all others share one. A
 * command that finds a row locked by another transaction is sent again through a third lane, so that it delays nothing
 * else.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
final class CommandLanes implements AutoCloseable {

    private static final int MAX_BATCH = 256;

    /** The pause between two attempts to close a session that has a claim on a locked row. */
    private static final Duration RETRY_PAUSE = Duration.ofMillis(100);

    private final ServerConnections connections;
    private final Executor executor;
    private final Batcher batcher;
    private final SessionLanes sessions;

    /** For commands that wait for a locked row. */
    private final Batcher lockedRows;

    /**
     * Creates the lanes.
     *
     * @param sessionLanes creates the session lane of a connection
     */
    CommandLanes(
            ServerConnections connections,
            ConnectionOrigin origin,
            Executor executor,
            ServerLane lane,
            BusyRowsLane lockedRowsLane,
            Function<Use, Batcher.Trip> sessionLanes) {
        this.connections = connections;
        this.executor = executor;
        this.batcher = batcher(lane, origin.callersRun(), executor);
        this.lockedRows = batcher(lockedRowsLane, false, executor);
        this.sessions = new SessionLanes(
                number -> sessionLanes.apply(Use.ofSessions(number)),
                MAX_BATCH,
                executor,
                SystemClock::nanoTime,
                origin,
                this::leaveSilent,
                number -> connections.dropUnlessTaken(Use.ofSessions(number)));
    }

    private static Batcher batcher(Batcher.Trip trip, boolean callersRun, Executor executor) {
        return new Batcher(1, (command, lanes) -> 0, MAX_BATCH, callersRun, executor, trip);
    }

    /**
     * Ends the connection of a session lane that does not answer while another one does. Commands on other connections
     * get as long to answer as a keep-alive.
     */
    private void leaveSilent(int lane) {
        long now = SystemClock.nanoTime();
        Duration responseTimeout = sessions.responseTimeout();
        connections.endSilent(Use.ofSessions(lane), now - responseTimeout.toNanos());
        CompletableFuture.delayedExecutor(responseTimeout.toNanos(), TimeUnit.NANOSECONDS, executor)
                .execute(() -> connections.endTakenBefore(now));
    }

    /** As {@link Batcher#submit}. */
    CompletionStage<Reply> submit(Command command, CallerMode caller, Duration timeout) {
        if (ServerSessions.isOurs(command)) {
            return sessions.submit(command, caller);
        } else if (command instanceof Command.CloseSession) {
            return closeSession(command, SystemClock.nanoTime());
        }
        return batcher.submit(command, ServerLane.isForCallers(command) ? caller : CallerMode.ASYNC, timeout)
                .exceptionallyCompose(failure -> RowsBusyException.areCauseOf(failure)
                        ? waitForRow(command, SystemClock.nanoTime())
                        : CompletableFuture.failedFuture(failure));
    }

    /**
     * Closes a session. If another transaction has locked a row of its claims, the command is retried a little later,
     * so that other commands proceed meanwhile.
     *
     * @param since when the wait began
     */
    private CompletionStage<Reply> closeSession(Command command, long since) {
        return batcher.submit(command, CallerMode.ASYNC).exceptionallyCompose(failure -> {
            if (!RowsBusyException.areCauseOf(failure)
                    || SystemClock.nanoTime() - since >= BusyRowsLane.MAX_WAIT.toNanos()) {
                return CompletableFuture.failedFuture(failure);
            }
            return CompletableFuture.runAsync(
                            () -> {}, CompletableFuture.delayedExecutor(RETRY_PAUSE.toMillis(), TimeUnit.MILLISECONDS))
                    .thenCompose(passed -> closeSession(command, since));
        });
    }

    /** @param since when the wait began */
    private CompletionStage<Reply> waitForRow(Command command, long since) {
        return lockedRows
                .submit(command, CallerMode.ASYNC)
                .exceptionallyCompose(failure -> RowsBusyException.areCauseOf(failure)
                                && SystemClock.nanoTime() - since < BusyRowsLane.MAX_WAIT.toNanos()
                        ? waitForRow(command, since)
                        : CompletableFuture.failedFuture(failure));
    }

    /** See {@link Batcher#close}. */
    @Override
    public void close() {
        batcher.close();
        sessions.close();
        lockedRows.close();
    }
}
