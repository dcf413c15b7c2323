package dev.holdfast.store.zookeeper.client;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Requests to an ensemble. Each is sent once, or not at all while there is no connection; each ends, with an answer or
 * with a {@link StoreException}. The requests of one thread arrive in the order in which they are made, so a read that
 * follows a {@link #sync} sees what was acknowledged before that.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; none blocks. Stages complete on the event thread
 * of the handle, or on the thread that calls {@link #giveUpOld}.
 */
public final class Requests {

    private final HandleSource source;
    private final List<ACL> acl;
    private final Duration timeout;
    private final LongSupplier ticks;
    private final ServerClock clock;
    private final LeaderContact contact;
    private final Set<Pending<?>> underWay = ConcurrentHashMap.newKeySet();
    private volatile long lastAnswer;
    private volatile boolean closed;

    /** Sends through the handle of a source, under whose permissions nodes are made. */
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
            underWay.remove(this);
            complete(answer);
        }

        void failed(int code) {
            lastAnswer = ticks.getAsLong();
            failed(Failures.of(Code.get(code)));
        }

        void failed(StoreException failure) {
            underWay.remove(this);
            completeExceptionally(failure);
        }
    }

    /** Lets a request go its way whose failure needs nothing done, for somebody tries again later. */
    public static void ignoreOutcome(CompletableFuture<?> request) {
        // The name says it.
    }

    /** The permissions under which nodes are made. */
    public List<ACL> acl() {
        return acl;
    }

    /** Makes later reads of this thread see all that was acknowledged before. */
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

    /** Reads a node, and watches it if it is there. Empty if there is none. */
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

    /** Lists the children of a node, and watches them if it is there. Empty if there is none. */
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

    /** Makes a persistent node. Whether it was not there. */
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

    /** Deletes a node, whatever its version. Whether it is gone: one with children stays. */
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

    /** Replaces the data of a node that is there for good, and takes the leader's time. */
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
                                pending.failed(Failures.missing(path));
                            } else {
                                pending.failed(code);
                            }
                        },
                        null));
    }

    /** Does all of some operations or none. Empty if one of their conditions does not hold. */
    public CompletableFuture<Optional<List<OpResult>>> multi(List<Op> operations) {
        return send(pending -> handle(pending)
                .multi(
                        operations,
                        (code, at, context, results) -> {
                            switch (Code.get(code)) {
                                case OK -> {
                                    sample(results, pending);
                                    pending.answered(Optional.of(results));
                                }
                                case NONODE, BADVERSION, NODEEXISTS, NOTEMPTY -> pending.answered(Optional.empty());
                                default -> pending.failed(code);
                            }
                        },
                        null));
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
        underWay.add(pending);
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

    /** Refuses what would wait for a connection: it would be sent when nobody waits for it any more. */
    private void requireConnection(Pending<?> pending) {
        if (closed) {
            throw closedNow(Effect.NONE);
        }
        ZooKeeper handle = source.handle();
        pending.handle = handle;
        switch (handle.getState()) {
            case CONNECTED -> {}
            case AUTH_FAILED -> throw Failures.of(Code.AUTHFAILED);
            default ->
                throw new StoreException(
                        Reason.UNAVAILABLE, Effect.NONE, "there is no connection to ZooKeeper at present", null);
        }
    }

    /** Ends what was not answered in time; called again and again. */
    public void giveUpOld() {
        long now = ticks.getAsLong();
        underWay.stream()
                .filter(pending -> now - pending.sent >= timeout.toNanos())
                .forEach(pending -> pending.failed(new StoreException(
                        Reason.UNAVAILABLE,
                        Effect.UNKNOWN,
                        "ZooKeeper did not answer within " + DurationFormat.format(timeout),
                        null)));
    }

    private static StoreException closedNow(Effect effect) {
        return new StoreException(Reason.CLOSED, effect, "the store is closed", null);
    }

    /**
     * Breaks the connection if nothing came through it since then, so that the next one goes to another server. The
     * session stays.
     */
    public void reconnectIfSilentSince(long nanos) {
        if (lastAnswer - nanos >= 0) {
            return;
        }
        try {
            source.handle().getTestable().closeSocket();
        } catch (IOException e) {
            // It is broken as it is.
        }
    }

    /** Ends what is under way, and refuses what comes. */
    public void close() {
        closed = true;
        underWay.forEach(pending -> pending.failed(closedNow(Effect.UNKNOWN)));
    }
}
