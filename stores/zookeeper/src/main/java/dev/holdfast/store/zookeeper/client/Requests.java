package dev.holdfast.store.zookeeper.client;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Requests to an ensemble. Each is sent once, or fails at once without a connection. Each ends with an answer or a
 * {@link StoreException}. The requests of one thread arrive in order, so a read after a {@link #sync} sees every write
 * acknowledged before that.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; none blocks, except
 * {@link #multi} if it may, and those that say so.
 * Stages complete on the event thread of the handle, on the thread that calls {@link #failTimedOut}, or on one that
 * blocked.
 */
public final class Requests {

    private static final Duration RECONNECT_PAUSE = Duration.ofMillis(10);

    private final HandleSource source;
    private final List<ACL> acl;
    private final Duration timeout;
    private final LongSupplier ticks;
    private final ServerClock clock;
    private final LeaderContact contact;
    private final Set<Pending<?>> pendingRequests = ConcurrentHashMap.newKeySet();
    private volatile long lastAnswer;
    private volatile boolean closed;

    /**
     * Sends requests through the handle of a source.
     *
     * @param acl the permissions of new nodes
     */
    public Requests(
            HandleSource source,
            List<ACL> acl,
            Duration timeout,
            LongSupplier ticks,
            ServerClock clock,
            LeaderContact contact) {
        this.source = source;
        this.acl = acl;
        this.timeout = timeout;
        this.ticks = ticks;
        this.clock = clock;
        this.contact = contact;
    }

    /** A request without an answer yet. */
    private final class Pending<T> extends CompletableFuture<T> {
        private final long sent = ticks.getAsLong();
        private final long sentWallMillis = clock.wallMillis();
        private @Nullable ZooKeeper handle;

        void answered(T answer) {
            long now = ticks.getAsLong();
            lastAnswer = now;
            contact.answered(sent, now);
            pendingRequests.remove(this);
            complete(answer);
        }

        void failed(int code) {
            lastAnswer = ticks.getAsLong();
            failed(ZooKeeperFailures.of(Code.get(code)));
        }

        void failed(StoreException failure) {
            pendingRequests.remove(this);
            completeExceptionally(failure);
        }
    }

    /** Ignores the outcome of a request, because something retries it later. */
    public static void ignoreOutcome(CompletableFuture<?> request) {
        // The name says it.
    }

    /** Reads something for each of some keys, all at once; those without it are left out. */
    public static <K, V> CompletableFuture<Map<K, V>> each(
            Set<K> keys, Function<K, CompletableFuture<Optional<V>>> read) {
        Map<K, CompletableFuture<Optional<V>>> reads = new LinkedHashMap<>();
        keys.forEach(key -> reads.put(key, read.apply(key)));
        return CompletableFuture.allOf(reads.values().toArray(CompletableFuture[]::new))
                .thenApply(all -> {
                    Map<K, V> found = new LinkedHashMap<>();
                    reads.forEach((key, one) -> one.join().ifPresent(value -> found.put(key, value)));
                    return found;
                });
    }

    /** The permissions of new nodes. */
    public List<ACL> acl() {
        return acl;
    }

    /** Makes later reads of this thread see every write acknowledged before. */
    public CompletableFuture<Boolean> sync(String path) {
        return send(pending -> handle(pending)
                .sync(
                        path,
                        (code, at, context) -> {
                            if (code == Code.OK.intValue()) {
                                pending.answered(true);
                            } else {
                                pending.failed(code);
                            }
                        },
                        null));
    }

    /** Reads a node, and watches it if it exists. Empty if it does not. */
    public CompletableFuture<Optional<Node>> get(String path, @Nullable Watcher watcher) {
        return send(pending -> handle(pending)
                .getData(
                        path,
                        watcher,
                        (code, at, context, data, stat) -> {
                            if (code == Code.OK.intValue()) {
                                pending.answered(Optional.of(new Node(data == null ? new byte[0] : data, stat)));
                            } else if (code == Code.NONODE.intValue()) {
                                pending.answered(Optional.empty());
                            } else {
                                pending.failed(code);
                            }
                        },
                        null));
    }

    /** Lists the children of a node, and watches them if it exists. Empty if it does not. */
    public CompletableFuture<Optional<List<String>>> children(String path, @Nullable Watcher watcher) {
        return send(pending -> handle(pending)
                .getChildren(
                        path,
                        watcher,
                        (code, at, context, names) -> {
                            if (code == Code.OK.intValue()) {
                                pending.answered(Optional.of(names));
                            } else if (code == Code.NONODE.intValue()) {
                                pending.answered(Optional.empty());
                            } else {
                                pending.failed(code);
                            }
                        },
                        (Object) null));
    }

    /**
     * Watches a node and all nodes below it, until {@link #unwatch}. The handle keeps the watch over reconnects. A
     * server before 3.6 has no such watches, and closes the connection when asked for one, so a lent handle never asks.
     *
     * @return false if the handle is lent, or the server has no such watches: before 3.6, or with the watch manager
     *     {@code WatchManagerOptimized}
     */
    public CompletableFuture<Boolean> watchTree(String path, Watcher watcher) {
        if (source.isLent()) {
            return CompletableFuture.completedFuture(false);
        }
        return send(pending -> handle(pending)
                .addWatch(
                        path,
                        watcher,
                        AddWatchMode.PERSISTENT_RECURSIVE,
                        (code, at, context) -> {
                            switch (Code.get(code)) {
                                case OK -> pending.answered(true);
                                // The latter is how a server reports what its watch manager can't do.
                                case UNIMPLEMENTED, MARSHALLINGERROR -> pending.answered(false);
                                default -> pending.failed(code);
                            }
                        },
                        null));
    }

    /**
     * Ends the watches of a node, such as that of {@link #watchTree}, whether it still exists or not. Without a
     * connection the handle forgets them. If a single watcher is named, ZooKeeper's client ends its watch here, but not
     * at the server.
     */
    public void unwatch(String path) {
        if (closed) {
            return;
        }
        try {
            source.handle().removeAllWatches(path, WatcherType.Any, true, (code, at, context) -> {}, null);
        } catch (StoreException e) {
            // No handle, and so no watch.
        }
    }

    /** Creates a persistent node; returns false if it exists. */
    public CompletableFuture<Boolean> create(String path, byte[] data) {
        return send(pending -> handle(pending)
                .create(
                        path,
                        data,
                        acl,
                        CreateMode.PERSISTENT,
                        (code, at, context, name) -> {
                            if (code == Code.OK.intValue() || code == Code.NODEEXISTS.intValue()) {
                                pending.answered(code == Code.OK.intValue());
                            } else {
                                pending.failed(code);
                            }
                        },
                        null));
    }

    /** Deletes a node of any version; returns false if it has children. */
    public CompletableFuture<Boolean> delete(String path) {
        return send(pending -> handle(pending)
                .delete(
                        path,
                        -1,
                        (code, at, context) -> {
                            if (code == Code.OK.intValue() || code == Code.NONODE.intValue()) {
                                pending.answered(true);
                            } else if (code == Code.NOTEMPTY.intValue()) {
                                pending.answered(false);
                            } else {
                                pending.failed(code);
                            }
                        },
                        null));
    }

    /** Replaces the data of a permanent node, and samples the leader's clock. */
    public CompletableFuture<Boolean> set(String path, byte[] data) {
        return send(pending -> handle(pending)
                .setData(
                        path,
                        data,
                        -1,
                        (code, at, context, stat) -> {
                            if (code == Code.OK.intValue()) {
                                clock.sample(stat.getMtime(), pending.sent, pending.sentWallMillis);
                                pending.answered(true);
                            } else if (code == Code.NONODE.intValue()) {
                                pending.failed(ZooKeeperFailures.missing(path));
                            } else {
                                pending.failed(code);
                            }
                        },
                        null));
    }

    /** Whether {@link #multi} can block. */
    public boolean canBlock() {
        return source.handle() instanceof WaitingHandle;
    }

    /** Does all operations or none. Empty if one of their conditions fails. */
    public CompletableFuture<Optional<List<OpResult>>> multi(List<Op> operations) {
        return multi(operations, Duration.ZERO);
    }

    /**
     * As {@link #multi(List)}, on a thread that may block.
     *
     * @param mayBlockFor how long this thread may block, which it does if the handle is one of the store's own; after
     *     that time the request fails
     */
    public CompletableFuture<Optional<List<OpResult>>> multi(List<Op> operations, Duration mayBlockFor) {
        return send(pending -> {
            ZooKeeper handle = handle(pending);
            if (!mayBlockFor.isZero() && handle instanceof WaitingHandle waiting) {
                Duration limit = mayBlockFor.compareTo(timeout) < 0 ? mayBlockFor : timeout;
                waiting.await(operations, limit, ticks)
                        .ifPresentOrElse(
                                answer -> ended(pending, answer.code(), answer.results()),
                                () -> pending.failed(timedOut(limit)));
            } else {
                handle.multi(operations, (code, at, context, results) -> ended(pending, code, results), null);
            }
        });
    }

    private void ended(Pending<Optional<List<OpResult>>> pending, int code, List<OpResult> results) {
        switch (Code.get(code)) {
            case OK -> {
                sample(results, pending);
                pending.answered(Optional.of(results));
            }
            case NONODE, BADVERSION, NODEEXISTS, NOTEMPTY -> pending.answered(Optional.empty());
            default -> pending.failed(code);
        }
    }

    private void sample(List<OpResult> results, Pending<?> pending) {
        for (OpResult result : results) {
            if (result instanceof OpResult.SetDataResult set) {
                clock.sample(set.getStat().getMtime(), pending.sent, pending.sentWallMillis);
                return;
            }
        }
    }

    private <T> CompletableFuture<T> send(Consumer<Pending<T>> request) {
        Pending<T> pending = new Pending<>();
        pendingRequests.add(pending);
        try {
            requireConnection(pending);
            request.accept(pending);
        } catch (StoreException e) {
            pending.failed(e);
        }
        return pending;
    }

    private static ZooKeeper handle(Pending<?> pending) {
        ZooKeeper handle = pending.handle;
        if (handle == null) {
            throw new AssertionError("A request without a handle");
        }
        return handle;
    }

    /** Fails without a connection: the handle would send the request later, when its caller has given up. */
    private void requireConnection(Pending<?> pending) {
        if (closed) {
            throw closedNow(Effect.NONE);
        }
        ZooKeeper handle = source.handle();
        pending.handle = handle;
        switch (handle.getState()) {
            case CONNECTED -> {}
            case AUTH_FAILED -> throw ZooKeeperFailures.of(Code.AUTHFAILED);
            default ->
                throw new StoreException(
                        Reason.UNAVAILABLE, Effect.NONE, "there is no connection to ZooKeeper at present", null);
        }
    }

    /** Fails the requests that have timed out; called periodically. */
    public void failTimedOut() {
        long now = ticks.getAsLong();
        pendingRequests.stream()
                .filter(pending -> now - pending.sent >= timeout.toNanos())
                .forEach(pending -> pending.failed(timedOut(timeout)));
    }

    /**
     * Waits for an answer. Blocks.
     *
     * @throws StoreException if the request fails, if there is no answer in that time, or on an interrupt, which stays
     */
    @CanIgnoreReturnValue
    public static <T> T await(CompletableFuture<T> request, Duration time) {
        try {
            return request.get(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw ZooKeeperFailures.of(e);
        } catch (TimeoutException e) {
            throw timedOut(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(
                    Reason.UNAVAILABLE, Effect.UNKNOWN, "interrupted while waiting for ZooKeeper's answer", e);
        }
    }

    /**
     * Reads a node until that succeeds, when a server has closed the connection. Blocks.
     *
     * @throws StoreException as {@link #await}
     */
    public void awaitAnswer(String path, Duration time) {
        long began = ticks.getAsLong();
        while (true) {
            try {
                await(get(path, null), time);
                return;
            } catch (StoreException e) {
                if (Thread.currentThread().isInterrupted() || ticks.getAsLong() - began >= time.toNanos()) {
                    throw e;
                }
                LockSupport.parkNanos(RECONNECT_PAUSE.toNanos());
            }
        }
    }

    private static StoreException timedOut(Duration limit) {
        return new StoreException(
                Reason.UNAVAILABLE,
                Effect.UNKNOWN,
                "ZooKeeper did not answer within " + DurationFormat.format(limit),
                null);
    }

    private static StoreException closedNow(Effect effect) {
        return new StoreException(Reason.CLOSED, effect, "the store is closed", null);
    }

    /**
     * Closes the connection if no answer has arrived since then, so that the handle tries another server. The session
     * stays.
     */
    public void reconnectIfSilentSince(long nanos) {
        if (lastAnswer - nanos >= 0) {
            return;
        }
        try {
            source.handle().getTestable().closeSocket();
        } catch (IOException e) {
            // It is closed already.
        }
    }

    /** Fails the requests in flight and all later ones. */
    public void close() {
        closed = true;
        pendingRequests.forEach(pending -> pending.failed(closedNow(Effect.UNKNOWN)));
    }
}
