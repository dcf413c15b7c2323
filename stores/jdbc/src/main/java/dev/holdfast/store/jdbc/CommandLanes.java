package dev.holdfast.store.jdbc;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.support.Batcher;
import dev.holdfast.store.jdbc.server.BusyRowsLane;
import dev.holdfast.store.jdbc.server.RowsBusyException;
import dev.holdfast.store.jdbc.server.ServerConnections;
import dev.holdfast.store.jdbc.server.ServerConnections.Use;
import dev.holdfast.store.jdbc.server.ServerLane;
import dev.holdfast.store.jdbc.server.ServerSessions;
import dev.holdfast.store.jdbc.server.SessionLanes;
import dev.holdfast.store.ledger.runtime.SystemTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Sends each command by the lane that it belongs to: what is about sessions alone by theirs, all else by one lane, and
 * what meets a row that others keep locked once more by another, so that it holds up nothing else.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
final class CommandLanes implements AutoCloseable {

    private static final int MAX_BATCH = 256;

    /** Between two attempts to close a session that has a claim on a locked row. */
    private static final Duration AGAIN = Duration.ofMillis(100);

    private final ServerConnections connections;
    private final Executor executor;
    private final Batcher batcher;
    private final SessionLanes sessions;

    /** For what can't go on where it holds up others. */
    private final Batcher lockedRows;

    /**
     * Makes the lanes.
     *
     * @param callersRun whether callers that wait may make trips of their own commands
     * @param sessionLanes makes the lane of sessions that uses a connection
     */
    CommandLanes(
            ServerConnections connections,
            boolean isPool,
            boolean callersRun,
            Executor executor,
            ServerLane lane,
            BusyRowsLane lockedRowsLane,
            Function<Use, Batcher.Trip> sessionLanes) {
        this.connections = connections;
        this.executor = executor;
        this.batcher = batcher(lane, callersRun, executor);
        this.lockedRows = batcher(lockedRowsLane, false, executor);
        this.sessions = new SessionLanes(
                number -> sessionLanes.apply(Use.ofSessions(number)),
                MAX_BATCH,
                executor,
                SystemTime::nanoTime,
                isPool,
                this::leaveSilent,
                number -> connections.dropUnlessTaken(Use.ofSessions(number)));
    }

    private static Batcher batcher(Batcher.Trip trip, boolean callersRun, Executor executor) {
        return new Batcher(1, (command, lanes) -> 0, MAX_BATCH, callersRun, executor, trip);
    }

    /**
     * A lane of sessions does not answer while another does. What is on its way elsewhere has as long to answer as a
     * keep-alive has.
     */
    private void leaveSilent(int lane) {
        long now = SystemTime.nanoTime();
        Duration patience = sessions.patience();
        connections.endSilent(Use.ofSessions(lane), now - patience.toNanos());
        CompletableFuture.delayedExecutor(patience.toNanos(), TimeUnit.NANOSECONDS, executor)
                .execute(() -> connections.endTakenBefore(now));
    }

    /** As {@link Batcher#submit}. */
    CompletionStage<Reply> submit(Command command, CallerMode caller, Duration patience) {
        if (ServerSessions.isOurs(command)) {
            return sessions.submit(command, caller);
        } else if (command instanceof Command.CloseSession) {
            return closeSession(command, SystemTime.nanoTime());
        }
        return batcher.submit(command, ServerLane.isForCallers(command) ? caller : CallerMode.ASYNC, patience)
                .exceptionallyCompose(failure -> RowsBusyException.areCauseOf(failure)
                        ? waitForRow(command, SystemTime.nanoTime())
                        : CompletableFuture.failedFuture(failure));
    }

    /**
     * A session has claims on any number of rows, of which others may have one locked: it is closed again a little
     * later, so that the rest goes on meanwhile.
     *
     * @param since when it began to wait
     */
    private CompletionStage<Reply> closeSession(Command command, long since) {
        return batcher.submit(command, CallerMode.ASYNC).exceptionallyCompose(failure -> {
            if (!RowsBusyException.areCauseOf(failure)
                    || SystemTime.nanoTime() - since >= BusyRowsLane.PATIENCE.toNanos()) {
                return CompletableFuture.failedFuture(failure);
            }
            return CompletableFuture.runAsync(
                            () -> {}, CompletableFuture.delayedExecutor(AGAIN.toMillis(), TimeUnit.MILLISECONDS))
                    .thenCompose(passed -> closeSession(command, since));
        });
    }

    /** @param since when it began to wait */
    private CompletionStage<Reply> waitForRow(Command command, long since) {
        return lockedRows
                .submit(command, CallerMode.ASYNC)
                .exceptionallyCompose(failure -> RowsBusyException.areCauseOf(failure)
                                && SystemTime.nanoTime() - since < BusyRowsLane.PATIENCE.toNanos()
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
