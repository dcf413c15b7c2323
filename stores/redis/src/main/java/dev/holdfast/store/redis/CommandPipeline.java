package dev.holdfast.store.redis;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.redis.connection.InFlight;
import dev.holdfast.store.redis.connection.RedisFailures;
import dev.holdfast.store.redis.script.BucketLayout;
import dev.holdfast.store.redis.script.Script;
import dev.holdfast.store.redis.script.ScriptCall;
import dev.holdfast.store.redis.script.ScriptReply;
import dev.holdfast.store.redis.topology.Route;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pipeline of the commands to one bucket. An idle one sends at once; commands that arrive while batches are in
 * flight form the next batch. A batch is one call of the script.
 */
final class CommandPipeline {

    private static final Logger LOG = LoggerFactory.getLogger(CommandPipeline.class);

    /** The maximum number of batches in flight: while the server executes one, the next is on the wire. */
    private static final int MAX_BATCHES = 2;

    /** The count of batches in flight once the pipeline is abandoned. */
    private static final int ABANDONED = Integer.MIN_VALUE / 2;

    /** The maximum number of commands in a batch: bounds the time for which one call blocks the server. */
    private static final int MAX_COMMANDS = 32;

    private static final CompletionStage<Long> NOT_ASKED = CompletableFuture.completedFuture(0L);

    private final Route route;
    private final Script script;
    private final byte[][] keys;
    private final byte[] header;
    private final int slotDigits;
    private final LongSupplier ticks;
    private final Replicas replicas;
    private final InFlight inFlight;
    private final UnaryOperator<CommandPipeline> successor;

    private final Queue<Call> waiting = new ConcurrentLinkedQueue<>();

    /** The number of batches in flight; negative once another pipeline has replaced this one. */
    private final AtomicInteger inFlightCount = new AtomicInteger();

    private final Set<Batch> batches = ConcurrentHashMap.newKeySet();

    /** True while a thread sends, so that commands are sent in their order of arrival. */
    private final AtomicBoolean sending = new AtomicBoolean();

    private final AtomicBoolean sweeping = new AtomicBoolean();
    private volatile boolean closed;

    private volatile long lastUsedAt;

    /**
     * Creates a pipeline.
     *
     * @param successor returns the pipeline that replaces this one once it is abandoned
     */
    CommandPipeline(
            Route route,
            Script script,
            BucketLayout layout,
            int bucket,
            Replicas replicas,
            InFlight inFlight,
            LongSupplier ticks,
            UnaryOperator<CommandPipeline> successor) {
        this.route = route;
        this.script = script;
        this.keys = layout.keys(bucket);
        this.header = layout.header(bucket);
        this.slotDigits = layout.slotDigits();
        this.replicas = replicas;
        this.inFlight = inFlight;
        this.ticks = ticks;
        this.successor = successor;
        this.lastUsedAt = ticks.getAsLong();
    }

    /** As in {@link BucketLayout#slotDigits()}. */
    int slotDigits() {
        return slotDigits;
    }

    /** A submitted command. */
    private record Call(ScriptCall request, boolean isConfirmed, CompletableFuture<ScriptReply> answer) {}

    /** Sends a command. The stage completes with its answer, or fails with a {@link StoreException}. */
    CompletionStage<ScriptReply> submit(ScriptCall request) {
        return submit(new Call(request, false, new CompletableFuture<>()));
    }

    /**
     * As {@link #submit(ScriptCall)}, but the answer waits until enough replicas have the effect, or their time-out,
     * and says how many do.
     */
    CompletionStage<ScriptReply> submitConfirmed(ScriptCall request) {
        return submit(new Call(request, true, new CompletableFuture<>()));
    }

    @CanIgnoreReturnValue
    private CompletionStage<ScriptReply> submit(Call call) {
        waiting.add(call);
        pump();
        return call.answer;
    }

    /** Fails the batches that took longer than this, and gives up their connections. */
    void endOverdue(Duration most) {
        long now = ticks.getAsLong();
        for (Batch batch : batches) {
            if (now - batch.sentAt > most.toNanos()) {
                try {
                    route.giveUp(batch.connection);
                } catch (RuntimeException | Error e) {
                    LOG.error("server={} an unresponsive connection could not be abandoned", route.server(), e);
                }
                batch.fail(RedisFailures.timedOut(route.server()));
            }
        }
    }

    /** Replaces the connections of batches that took longer than this, unless they answer meanwhile. */
    void replaceSilent(Duration most) {
        long now = ticks.getAsLong();
        for (Batch batch : batches) {
            if (now - batch.sentAt >= most.toNanos()) {
                try {
                    route.replace(batch.connection, () -> !batch.ended.get());
                } catch (RuntimeException | Error e) {
                    LOG.error("server={} another connection could not be requested", route.server(), e);
                }
            }
        }
    }

    /**
     * Abandons the pipeline if it has been idle that long and nothing is in flight. Later commands to it are passed to
     * its successor.
     *
     * @return whether it is abandoned
     */
    boolean abandonIfIdle(Duration least) {
        if (ticks.getAsLong() - lastUsedAt < least.toNanos()) {
            return false;
        }
        return inFlightCount.compareAndSet(0, ABANDONED);
    }

    void close() {
        closed = true;
        pump();
        batches.forEach(batch -> batch.fail(RedisFailures.closed(StoreException.Effect.UNKNOWN)));
    }

    // After adding a call or decrementing the count, a thread checks the flag; after clearing the flag, it checks both.
    // So no call is left behind.
    private void pump() {
        while (!waiting.isEmpty()
                && (inFlightCount.get() < MAX_BATCHES || closed)
                && sending.compareAndSet(false, true)) {
            List<Runnable> refused = new ArrayList<>(0);
            try {
                while (!waiting.isEmpty() && (inFlightCount.get() < MAX_BATCHES || closed)) {
                    send(gather(), refused);
                }
            } finally {
                sending.set(false);
            }
            // Only now, because a caller may react with a new command.
            refused.forEach(each -> {
                try {
                    each.run();
                } catch (RuntimeException | Error e) {
                    LOG.error("server={} an action that followed an error reply failed", route.server(), e);
                }
            });
        }
    }

    private List<Call> gather() {
        // Never reallocates: an OutOfMemoryError there would lose calls taken from the queue.
        List<Call> calls = new ArrayList<>(MAX_COMMANDS);
        while (calls.size() < MAX_COMMANDS) {
            Call call = waiting.poll();
            if (call == null) {
                break;
            }
            calls.add(call);
        }
        return calls;
    }

    /**
     * Sends a batch. Calls that can't be sent are added to the list as tasks, which run when this thread no longer
     * sends. Never throws.
     */
    private void send(List<Call> calls, List<Runnable> refused) {
        try {
            trySending(calls, refused);
        } catch (RuntimeException | Error e) {
            LOG.error("server={} commands could not be sent; they fail", route.server(), e);
            StoreException why = RedisFailures.unsent(e);
            refused.add(() -> calls.forEach(call -> call.answer.completeExceptionally(why)));
        }
    }

    private void trySending(List<Call> calls, List<Runnable> refused) {
        StatefulRedisConnection<byte[], byte[]> connection = route.current();
        if (closed || connection == null) {
            StoreException why = closed ? RedisFailures.closed(StoreException.Effect.NONE) : route.missing();
            calls.forEach(call -> refused.add(() -> call.answer.completeExceptionally(why)));
            return;
        }
        List<byte[]> all = new ArrayList<>(1 + 11 * calls.size());
        all.add(header);
        calls.forEach(call -> all.addAll(call.request.arguments()));
        Batch batch = new Batch(calls, connection, all.toArray(byte[][]::new));
        if (inFlightCount.incrementAndGet() <= 0) {
            calls.forEach(call -> refused.add(() -> successor.apply(this).submit(call)));
            return;
        }
        lastUsedAt = batch.startedAt;
        inFlight.begins();
        batches.add(batch);
        batch.start();
    }

    /** Sweeps until nothing more is due than one call ends. */
    private void sweep() {
        if (!closed && sweeping.compareAndSet(false, true)) {
            submit(ScriptCall.sweep()).whenComplete((answer, failure) -> {
                sweeping.set(false);
                if (answer != null && answer.more()) {
                    sweep();
                }
            });
        }
    }

    private final class Batch {
        private final List<Call> calls;
        private final byte[][] arguments;
        private final long startedAt = ticks.getAsLong();
        private final AtomicBoolean ended = new AtomicBoolean();

        // Changed only while the batch is redirected.
        private volatile StatefulRedisConnection<byte[], byte[]> connection;
        private volatile long sentAt = startedAt;
        private volatile int redirections;

        Batch(List<Call> calls, StatefulRedisConnection<byte[], byte[]> connection, byte[][] arguments) {
            this.calls = calls;
            this.connection = connection;
            this.arguments = arguments;
        }

        void start() {
            try {
                CompletionStage<List<Object>> done = connection
                        .async()
                        .<List<Object>>evalsha(script.digest(), ScriptOutputType.MULTI, keys, arguments);
                CompletionStage<Long> copies = askReplicas();
                done.whenComplete((answers, failure) -> orFail(() -> {
                    if (failure != null && RedisFailures.isScriptMissing(failure)) {
                        startWithText();
                    } else {
                        end(answers, copies, failure);
                    }
                }));
            } catch (RuntimeException | Error e) {
                notStarted(e);
            }
        }

        /** The driver throws some failures instead of completing with them; it shouldn't throw anything else. */
        private void notStarted(Throwable thrown) {
            if (!(thrown instanceof RedisException)) {
                LOG.error("server={} a batch could not be sent; its commands fail", route.server(), thrown);
            }
            orFail(() -> end(null, 0, thrown));
        }

        /** Runs a step of this batch; if the step throws, the batch fails, because nothing else would complete it. */
        private void orFail(Runnable step) {
            try {
                step.run();
            } catch (RuntimeException | Error e) {
                LOG.error("server={} a reply could not be processed; its commands fail", route.server(), e);
                fail(RedisFailures.ofRequest(e, route.server()));
            }
        }

        /** Sends the script's text, after the server was restarted or its scripts were flushed. */
        private void startWithText() {
            try {
                CompletionStage<List<Object>> done =
                        connection.async().<List<Object>>eval(script.text(), ScriptOutputType.MULTI, keys, arguments);
                CompletionStage<Long> copies = askReplicas();
                done.whenComplete((answers, failure) -> orFail(() -> end(answers, copies, failure)));
            } catch (RuntimeException | Error e) {
                notStarted(e);
            }
        }

        /**
         * Sent directly after the script on the same connection, so its answer covers everything written until then.
         */
        private CompletionStage<Long> askReplicas() {
            return replicas.areAsked() && calls.stream().anyMatch(Call::isConfirmed)
                    ? connection
                            .async()
                            .waitForReplication(
                                    replicas.count(), replicas.timeout().toMillis())
                            .exceptionally(unknown -> 0L)
                    : NOT_ASKED;
        }

        private void end(@Nullable List<Object> answers, CompletionStage<Long> copies, @Nullable Throwable failure) {
            if (failure != null && redirect(failure)) {
                return;
            }
            if (failure != null || copies == NOT_ASKED) {
                end(answers, 0, failure);
            } else {
                copies.thenAccept(count -> orFail(() -> end(answers, count, null)));
            }
        }

        /** Redirects the batch, if the server's answer was a redirection. */
        @SuppressWarnings("NonAtomicVolatileUpdate") // only one attempt is under way at a time
        private boolean redirect(Throwable failure) {
            CompletionStage<Route.Onward> onward = closed || ended.get()
                    ? null
                    : route.onward(connection, failure, redirections, ticks.getAsLong() - startedAt);
            if (onward == null) {
                return false;
            }
            redirections = redirections + 1;
            // While it is redirected, nothing is in flight that could be overdue.
            sentAt = ticks.getAsLong();
            onward.whenComplete((next, lost) -> orFail(() -> {
                if (lost != null) {
                    fail(RedisFailures.ofRequest(lost, route.server()));
                } else if (!ended.get()) {
                    resend(next);
                }
            }));
            return true;
        }

        private void resend(Route.Onward next) {
            connection = next.connection();
            sentAt = ticks.getAsLong();
            if (next.isAsking()) {
                // If another command comes between the two, this one is redirected once more.
                connection.async().asking().exceptionally(failure -> "");
            }
            start();
        }

        private void end(@Nullable List<Object> answers, long copies, @Nullable Throwable failure) {
            List<ScriptReply> all = answers == null ? List.of() : ScriptReply.read(answers, calls.size(), copies);
            if (all.isEmpty()) {
                fail(
                        failure == null
                                ? RedisFailures.nonsense(route.server())
                                : RedisFailures.ofRequest(failure, route.server()));
                return;
            }
            if (!finish()) {
                return;
            }
            for (int i = 0; i < calls.size(); i++) {
                settleSurely(calls.get(i), all.get(i));
            }
            if (all.get(0).more()) {
                sweep();
            }
        }

        private void settleSurely(Call call, ScriptReply answer) {
            try {
                settle(call, answer);
            } catch (RuntimeException | Error e) {
                LOG.error("server={} a reply could not be processed; its command fails", route.server(), e);
                call.answer.completeExceptionally(RedisFailures.ofRequest(e, route.server()));
            }
        }

        private void settle(Call call, ScriptReply answer) {
            if (answer.isNonsense()) {
                call.answer.completeExceptionally(RedisFailures.nonsense(route.server()));
            } else if (answer.isFailure()) {
                refuse(call, RedisFailures.ofCommand(answer.failure(), answer.hadEffect(), route.server()));
            } else {
                call.answer.complete(answer);
            }
        }

        void fail(StoreException why) {
            if (finish()) {
                calls.forEach(call -> refuse(call, why));
            }
        }

        private void refuse(Call call, StoreException why) {
            try {
                route.refused(connection, why);
            } catch (RuntimeException | Error e) {
                LOG.error(
                        "server={} the routing information of an error reply could not be processed",
                        route.server(),
                        e);
            }
            call.answer.completeExceptionally(why);
        }

        /**
         * Makes room for the next batch, which is sent before the answers of this one are handled; false if it had
         * already ended.
         */
        private boolean finish() {
            if (!ended.compareAndSet(false, true)) {
                return false;
            }
            batches.remove(this);
            inFlight.ends();
            inFlightCount.decrementAndGet();
            pump();
            return true;
        }
    }
}
