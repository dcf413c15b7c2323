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
 * Pipeline of the commands to one bucket: an idle one sends at once, and what arrives while trips are under way leaves
 * together in the next. A trip is one call of the script.
 */
final class CommandPipeline {

    private static final Logger LOG = LoggerFactory.getLogger(CommandPipeline.class);

    /** Trips under way at a time: while the server works on one, the next is on the wire. */
    private static final int MOST_TRIPS = 2;

    /** As the number of trips under way: there will be none any more. */
    private static final int LEFT = Integer.MIN_VALUE / 2;

    /** Commands of one trip: bounds the time for which one call keeps the server. */
    private static final int MOST_COMMANDS = 32;

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

    /** How many trips; below zero when another pipeline has taken the place of this one. */
    private final AtomicInteger underWay = new AtomicInteger();

    private final Set<Trip> trips = ConcurrentHashMap.newKeySet();

    /** True while a thread sends, so that commands leave in the order in which they came. */
    private final AtomicBoolean sending = new AtomicBoolean();

    private final AtomicBoolean sweeping = new AtomicBoolean();
    private volatile boolean closed;

    private volatile long lastUsedAt;

    /**
     * Makes one.
     *
     * @param successor the pipeline that takes the place of this one when it is left
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

    /** As of {@link BucketLayout#slotDigits()}. */
    int slotDigits() {
        return slotDigits;
    }

    /** One command on its way. */
    private record Call(ScriptCall request, boolean isConfirmed, CompletableFuture<ScriptReply> answer) {}

    /** Sends a command. The stage ends with the answer, or with a {@link StoreException}. */
    CompletionStage<ScriptReply> submit(ScriptCall request) {
        return submit(new Call(request, false, new CompletableFuture<>()));
    }

    /**
     * As {@link #submit(ScriptCall)}; the answer comes when enough replicas have what was done, or their time is over,
     * and tells how many do.
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

    /** Ends trips that took longer than that, and gives their connection up. */
    void endOverdue(Duration most) {
        long now = ticks.getAsLong();
        for (Trip trip : trips) {
            if (now - trip.sentAt > most.toNanos()) {
                try {
                    route.giveUp(trip.connection);
                } catch (RuntimeException | Error e) {
                    LOG.error("server={} a connection that does not answer could not be given up", route.server(), e);
                }
                trip.fail(RedisFailures.timedOut(route.server()));
            }
        }
    }

    /** Has the connections of trips replaced that took longer than that, unless they answer after all. */
    void replaceSilent(Duration most) {
        long now = ticks.getAsLong();
        for (Trip trip : trips) {
            if (now - trip.sentAt >= most.toNanos()) {
                try {
                    route.replace(trip.connection, () -> !trip.over.get());
                } catch (RuntimeException | Error e) {
                    LOG.error("server={} no other connection could be asked for", route.server(), e);
                }
            }
        }
    }

    /**
     * Leaves it if nothing was sent for so long and nothing is under way; whoever has it still in hand is served by the
     * one that takes its place.
     *
     * @return whether it is left
     */
    boolean leaveIfIdle(Duration least) {
        if (ticks.getAsLong() - lastUsedAt < least.toNanos()) {
            return false;
        }
        return underWay.compareAndSet(0, LEFT);
    }

    void close() {
        closed = true;
        pump();
        trips.forEach(trip -> trip.fail(RedisFailures.closed(StoreException.Effect.UNKNOWN)));
    }

    // Who adds a call, or lowers the number of trips, looks at the flag after it; who lowers the flag looks at both
    // after it: no call is left behind.
    private void pump() {
        while (!waiting.isEmpty() && (underWay.get() < MOST_TRIPS || closed) && sending.compareAndSet(false, true)) {
            List<Runnable> refused = new ArrayList<>(0);
            try {
                while (!waiting.isEmpty() && (underWay.get() < MOST_TRIPS || closed)) {
                    send(gather(), refused);
                }
            } finally {
                sending.set(false);
            }
            // Not before: whoever hears of it may have something new to send.
            refused.forEach(each -> {
                try {
                    each.run();
                } catch (RuntimeException | Error e) {
                    LOG.error("server={} what followed a refusal failed", route.server(), e);
                }
            });
        }
    }

    private List<Call> gather() {
        // Never grows: what was taken from the queue must not be lost on the way.
        List<Call> calls = new ArrayList<>(MOST_COMMANDS);
        while (calls.size() < MOST_COMMANDS) {
            Call call = waiting.poll();
            if (call == null) {
                break;
            }
            calls.add(call);
        }
        return calls;
    }

    /**
     * Sends commands. What can't be sent from here is added to the list, which is run when this thread sends no more.
     * Never throws.
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
        Trip trip = new Trip(calls, connection, all.toArray(byte[][]::new));
        if (underWay.incrementAndGet() <= 0) {
            calls.forEach(call -> refused.add(() -> successor.apply(this).submit(call)));
            return;
        }
        lastUsedAt = trip.begunAt;
        inFlight.begins();
        trips.add(trip);
        trip.start();
    }

    /** Goes on with ending what is due, as long as there is more of it than one call may do. */
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

    private final class Trip {
        private final List<Call> calls;
        private final byte[][] arguments;
        private final long begunAt = ticks.getAsLong();
        private final AtomicBoolean over = new AtomicBoolean();

        // Change only while it is on its way to another server.
        private volatile StatefulRedisConnection<byte[], byte[]> connection;
        private volatile long sentAt = begunAt;
        private volatile int sentOn;

        Trip(List<Call> calls, StatefulRedisConnection<byte[], byte[]> connection, byte[][] arguments) {
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
                done.whenComplete((answers, failure) -> surely(() -> {
                    if (failure != null && RedisFailures.isScriptMissing(failure)) {
                        startUnknown();
                    } else {
                        end(answers, copies, failure);
                    }
                }));
            } catch (RuntimeException | Error e) {
                notStarted(e);
            }
        }

        /** The driver says by an exception what it may say by its answer too; all else it should not throw. */
        private void notStarted(Throwable thrown) {
            if (!(thrown instanceof RedisException)) {
                LOG.error("server={} a trip could not be begun; its commands fail", route.server(), thrown);
            }
            surely(() -> end(null, 0, thrown));
        }

        /** Does a step of this trip; if that fails, so does the trip, for nothing else would end it. */
        private void surely(Runnable step) {
            try {
                step.run();
            } catch (RuntimeException | Error e) {
                LOG.error("server={} an answer could not be taken; its commands fail", route.server(), e);
                fail(RedisFailures.ofTrip(e, route.server()));
            }
        }

        /** The server was started since, or its scripts were flushed: it is told the text again. */
        private void startUnknown() {
            try {
                CompletionStage<List<Object>> done =
                        connection.async().<List<Object>>eval(script.text(), ScriptOutputType.MULTI, keys, arguments);
                CompletionStage<Long> copies = askReplicas();
                done.whenComplete((answers, failure) -> surely(() -> end(answers, copies, failure)));
            } catch (RuntimeException | Error e) {
                notStarted(e);
            }
        }

        /** Right behind the script, on its connection: what this answers is about all that was written until then. */
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
            if (failure != null && sendOn(failure)) {
                return;
            }
            if (failure != null || copies == NOT_ASKED) {
                end(answers, 0, failure);
            } else {
                copies.thenAccept(count -> surely(() -> end(answers, count, null)));
            }
        }

        /** Sends it to whoever is the one to ask, if that is what the server has answered. */
        @SuppressWarnings("NonAtomicVolatileUpdate") // there is one sending at a time
        private boolean sendOn(Throwable failure) {
            CompletionStage<Route.Onward> onward = closed || over.get()
                    ? null
                    : route.onward(connection, failure, sentOn, ticks.getAsLong() - begunAt);
            if (onward == null) {
                return false;
            }
            sentOn = sentOn + 1;
            // Nothing is under way meanwhile that could be overdue.
            sentAt = ticks.getAsLong();
            onward.whenComplete((next, lost) -> surely(() -> {
                if (lost != null) {
                    fail(RedisFailures.ofTrip(lost, route.server()));
                } else if (!over.get()) {
                    goOn(next);
                }
            }));
            return true;
        }

        private void goOn(Route.Onward next) {
            connection = next.connection();
            sentAt = ticks.getAsLong();
            if (next.isAsking()) {
                // Where another command comes in between, this one is only sent on once more.
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
                                : RedisFailures.ofTrip(failure, route.server()));
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
                LOG.error("server={} an answer could not be taken; its command fails", route.server(), e);
                call.answer.completeExceptionally(RedisFailures.ofTrip(e, route.server()));
            }
        }

        private void settle(Call call, ScriptReply answer) {
            if (answer.isNonsense()) {
                call.answer.completeExceptionally(RedisFailures.nonsense(route.server()));
            } else if (answer.isFailure()) {
                refuse(call, RedisFailures.ofStep(answer.failure(), answer.hadEffect(), route.server()));
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
                LOG.error("server={} what a refusal says of the way was not heard", route.server(), e);
            }
            call.answer.completeExceptionally(why);
        }

        /**
         * Makes room for the next trip, which leaves before the answers of this one are heard; false if it was over.
         */
        private boolean finish() {
            if (!over.compareAndSet(false, true)) {
                return false;
            }
            trips.remove(this);
            inFlight.ends();
            underWay.decrementAndGet();
            pump();
            return true;
        }
    }
}
