package dev.holdfast.store.zookeeper.adapter;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.zookeeper.client.HandleSource;
import dev.holdfast.store.zookeeper.client.LeaderContact;
import dev.holdfast.store.zookeeper.client.Node;
import dev.holdfast.store.zookeeper.client.Requests;
import dev.holdfast.store.zookeeper.client.ZooKeeperFailures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sessions of this client: ephemeral nodes, so that they end with its session at ZooKeeper, and a timer that ends
 * them when they are not renewed.
 *
 * <p>A keep-alive is a write. ZooKeeper renews its own sessions by pings, but a follower answers these even while it is
 * cut off from its leader, which then does not know of them. A committed write proves that the leader had the client's
 * session at that time, and {@linkplain LeaderContact knows} of earlier packets. If these are too old, the write is
 * repeated after the time in which a follower reports.
 *
 * <p><b>Thread-safety:</b> safe.
 */
final class ZooKeeperSessions {

    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperSessions.class);

    private static final byte[] NOTHING = {};

    /** How often a request is repeated that the server refused because this client had an outdated epoch. */
    private static final int ATTEMPTS = 5;

    /** The most sessions of other clients whose epochs are remembered. */
    private static final int MOST_FOREIGN = 1_024;

    private static final OwnSession.Epoch NEVER_RAISED = new OwnSession.Epoch(0, 0);

    private final NodeLayout layout;
    private final Requests requests;
    private final HandleSource source;
    private final LeaderContact contact;
    private final ScheduledExecutorService timer;
    private final LongSupplier ticks;
    private final SessionWatches watches;
    private final Mailboxes mailboxes;
    private final SessionRemovals removals;
    private final Map<SessionId, OwnSession> own = new ConcurrentHashMap<>();

    /** The last read epochs of sessions of other clients; the least recently used first. */
    @GuardedBy("foreign")
    private final Map<SessionId, OwnSession.Epoch> foreign = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<SessionId, OwnSession.Epoch> eldest) {
            return size() > MOST_FOREIGN;
        }
    };

    ZooKeeperSessions(
            NodeLayout layout,
            Requests requests,
            HandleSource source,
            LeaderContact contact,
            ScheduledExecutorService timer,
            LongSupplier ticks,
            SessionWatches watches,
            Mailboxes mailboxes,
            SessionRemovals removals) {
        this.layout = layout;
        this.requests = requests;
        this.source = source;
        this.contact = contact;
        this.timer = timer;
        this.ticks = ticks;
        this.watches = watches;
        this.mailboxes = mailboxes;
        this.removals = removals;
    }

    /** The session with this id, if this client opened it and it is not known to have ended. */
    Optional<OwnSession> own(SessionId id) {
        return Optional.ofNullable(own.get(id));
    }

    /**
     * The epoch of a session as this client knows it, which others may have raised since. Of a session that was never
     * read it is a guess: most keep epoch 0, with which their nodes are made. A node whose version is still 0 proves
     * that, so a write that is right to trust the guess needs no read before it; any other fails.
     */
    Optional<OwnSession.Epoch> likelyEpoch(SessionId id) {
        OwnSession session = own.get(id);
        if (session != null) {
            return Optional.of(session.epoch());
        }
        if (!NodeLayout.isSession(id) || hasEnded(id)) {
            return Optional.empty();
        }
        synchronized (foreign) {
            return Optional.of(foreign.getOrDefault(id, NEVER_RAISED));
        }
    }

    /** Whether this client has ended it, though its nodes may still exist. */
    boolean hasEnded(SessionId id) {
        return removals.isPending(id);
    }

    CompletableFuture<OpenedSession> open(Duration ttl, String label) {
        long zooKeeperSession;
        try {
            zooKeeperSession = source.handle().getSessionId();
        } catch (StoreException e) {
            return CompletableFuture.failedFuture(e);
        }
        HexFormat hex = HexFormat.of();
        SessionId id = new SessionId(Long.toHexString(zooKeeperSession)
                + '-'
                + hex.toHexDigits(Randomness.nextLong())
                + hex.toHexDigits(Randomness.nextLong()));
        byte[] data = NodeData.session(0, ttl, label);
        List<Op> operations = new ArrayList<>();
        operations.add(Op.create(layout.session(id), data, requests.acl(), CreateMode.EPHEMERAL));
        operations.add(Op.create(layout.beat(id), NOTHING, requests.acl(), CreateMode.EPHEMERAL));
        layout.helperNodes(id)
                .forEach(path -> operations.add(Op.create(path, NOTHING, requests.acl(), CreateMode.PERSISTENT)));
        // Its answer has the leader's time, which that to a creation lacks.
        operations.add(Op.setData(layout.beat(id), NOTHING, 0));
        long now = ticks.getAsLong();
        return requests.multi(operations)
                .thenCompose(done -> {
                    if (done.isEmpty()) {
                        throw ZooKeeperFailures.missing(layout.sessions());
                    }
                    OwnSession session = new OwnSession(id, ttl, ticks.getAsLong());
                    opened(session);
                    return contact.outlasts(now, ttl, now)
                            ? CompletableFuture.completedFuture(Optional.of(0L))
                            : renewLater(session, 0, now, 1);
                })
                .handle((epoch, failure) -> {
                    if (failure != null || epoch.isEmpty()) {
                        StoreException reason = failure == null
                                ? contended("a session that was opened")
                                : ZooKeeperFailures.of(failure);
                        // It may be open nevertheless, and nothing else would end it. If nothing was sent there is
                        // nothing to
                        // to end; removals at each retry of an outage would overload the servers.
                        if (own.containsKey(id) || reason.effect() == Effect.UNKNOWN) {
                            var unused = end(id);
                        }
                        throw reason;
                    }
                    return new OpenedSession(id, ttl);
                });
    }

    private void opened(OwnSession session) {
        own.put(session.id(), session);
        watches.addOwn(session.id());
        mailboxes.open(session.id());
        endWhenOver(session);
    }

    private void endWhenOver(OwnSession session) {
        long now = ticks.getAsLong();
        if (session.endIfOver(now)) {
            forget(session.id(), removals.add(session.id()));
        } else if (!session.hasEnded()) {
            // While a renewal has no answer, checks its session again soon.
            long left = Math.max(session.leftNanos(now), TimeUnit.MILLISECONDS.toNanos(5));
            try {
                var unused = timer.schedule(() -> endWhenOver(session), left, TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                // Closed: it ends with the handle.
            }
        }
    }

    /**
     * Forgets a session that has ended for this client.
     *
     * @param removed completes when it has ended for others too, or when that fails; then its end is reported
     */
    private void forget(SessionId id, CompletableFuture<Void> removed) {
        own.remove(id);
        mailboxes.close(id);
        Requests.ignoreOutcome(removed.whenComplete((done, failure) -> watches.ended(id)));
    }

    /**
     * Ends the sessions whose ttl exceeds the time-out of the connection, which a server may shorten. The servers would
     * end them while holders rely on them.
     */
    void endLongerThan(Duration longest) {
        List<OwnSession> ended = own.values().stream()
                .filter(session -> session.ttl().compareTo(longest) > 0 && session.end())
                .toList();
        for (OwnSession session : ended) {
            LOG.warn(
                    "session {} of {} has ended: a server with a lower maxSessionTimeout now keeps "
                            + "this client for only {}, enough for sessions of {}. Raise maxSessionTimeout "
                            + "on all servers, or use a shorter sessionTtl",
                    session.id(),
                    DurationFormat.format(session.ttl()),
                    DurationFormat.format(contact.timeout()),
                    DurationFormat.format(longest));
            watches.ended(session.id()); // before another client can have what it holds
            forget(session.id(), removals.add(session.id()));
        }
    }

    /** Notes that the node of a session was deleted. */
    void gone(SessionId id) {
        OwnSession session = own.get(id);
        if (session != null && session.end()) {
            var unused = removals.add(id); // its mailbox and index may be left
            forget(id, CompletableFuture.completedFuture(null));
        }
    }

    /** Notes that the ZooKeeper session has expired, with all ephemeral nodes. */
    void allGone() {
        List.copyOf(own.keySet()).forEach(this::gone);
    }

    CompletableFuture<Optional<Long>> keepAlive(SessionId id, long epoch, Duration responseTimeout) {
        OwnSession session = own.get(id);
        if (session == null) {
            return requests.sync(layout.root()).thenApply(done -> Optional.empty());
        }
        long now = ticks.getAsLong();
        session.renewing(now).ifPresent(oldest -> {
            if (now - oldest >= responseTimeout.toNanos()) {
                requests.reconnectIfSilentSince(oldest);
            }
        });
        return renewForTtl(session, epoch, now, 1).whenComplete((answer, failure) -> {
            if (failure == null && answer.isPresent() && answer.get() <= epoch) {
                session.renewed(now, ticks.getAsLong());
            } else {
                session.notRenewed(now);
            }
        });
    }

    /**
     * Renews a session until it is certain to last for its ttl.
     *
     * @param from the beginning of that time
     */
    private CompletableFuture<Optional<Long>> renewForTtl(OwnSession session, long epoch, long from, int attempt) {
        long written = ticks.getAsLong();
        return renew(session, epoch, 1).thenCompose(present -> {
            if (present.isEmpty() || present.get() > epoch || contact.outlasts(from, session.ttl(), written)) {
                return CompletableFuture.completedFuture(present);
            }
            return attempt < ATTEMPTS
                    ? renewLater(session, epoch, from, attempt + 1)
                    : CompletableFuture.failedFuture(new StoreException(
                            Reason.UNAVAILABLE,
                            Effect.UNKNOWN,
                            "the connection to ZooKeeper changed on every attempt, so its leader "
                                    + "may not have received the keep-alive",
                            null));
        });
    }

    /** Renews a session after the time in which a follower reports. */
    private CompletableFuture<Optional<Long>> renewLater(OwnSession session, long epoch, long from, int attempt) {
        CompletableFuture<Optional<Long>> renewed = new CompletableFuture<>();
        try {
            var unused = timer.schedule(
                    () -> Requests.ignoreOutcome(
                            renewForTtl(session, epoch, from, attempt).whenComplete((present, failure) -> {
                                if (failure == null) {
                                    renewed.complete(present);
                                } else {
                                    renewed.completeExceptionally(failure);
                                }
                            })),
                    contact.reportDelay().toNanos(),
                    TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            renewed.completeExceptionally(new StoreException(Reason.CLOSED, Effect.UNKNOWN, "the store is closed", e));
        }
        return renewed;
    }

    private CompletableFuture<Optional<Long>> renew(OwnSession session, long epoch, int attempt) {
        OwnSession.Epoch known = session.epoch();
        List<Op> operations = List.of(
                Op.check(layout.session(session.id()), known.version()),
                Op.setData(layout.beat(session.id()), NOTHING, -1));
        CompletableFuture<Boolean> renewed = known.epoch() > epoch
                ? CompletableFuture.completedFuture(false)
                : requests.multi(operations).thenApply(Optional::isPresent);
        return renewed.thenCompose(done -> {
            if (done) {
                return CompletableFuture.completedFuture(Optional.of(known.epoch()));
            }
            return read(session.id()).thenCompose(record -> {
                if (record.isEmpty() || record.get().epoch() > epoch || attempt == ATTEMPTS) {
                    return CompletableFuture.completedFuture(record.map(SessionRecord::epoch));
                }
                return renew(session, epoch, attempt + 1);
            });
        });
    }

    /** Reads a session, and notes its epoch. */
    CompletableFuture<Optional<SessionRecord>> read(SessionId id) {
        return readVersion(id).thenApply(node -> node.map(Versioned::session));
    }

    /**
     * A session and the version of its node.
     *
     * @param version changes with the epoch
     */
    record Versioned(SessionRecord session, int version) {}

    CompletableFuture<Optional<Versioned>> readVersion(SessionId id) {
        if (!NodeLayout.isSession(id)) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        String path = layout.session(id);
        return requests.get(path, null).thenApply(node -> {
            if (node.isEmpty()) {
                synchronized (foreign) {
                    foreign.remove(id);
                }
                gone(id);
                return Optional.empty();
            }
            if (hasEnded(id)) {
                return Optional.empty();
            }
            return Optional.of(noted(id, path, node.get()));
        });
    }

    private Versioned noted(SessionId id, String path, Node node) {
        SessionRecord record = NodeData.session(path, node.data());
        int version = node.stat().getVersion();
        own(id).ifPresentOrElse(session -> session.seen(record.epoch(), version), () -> {
            synchronized (foreign) {
                foreign.put(id, new OwnSession.Epoch(record.epoch(), version));
            }
        });
        return new Versioned(record, version);
    }

    CompletableFuture<Optional<Long>> raise(SessionId id, long epoch) {
        return raise(id, epoch, 1);
    }

    private CompletableFuture<Optional<Long>> raise(SessionId id, long epoch, int attempt) {
        return readVersion(id).thenCompose(found -> {
            if (found.isEmpty() || found.get().session().epoch() >= epoch) {
                return CompletableFuture.completedFuture(
                        found.map(node -> node.session().epoch()));
            }
            SessionRecord before = found.get().session();
            byte[] data = NodeData.session(epoch, before.ttl(), before.label());
            Op write = Op.setData(layout.session(id), data, found.get().version());
            return requests.multi(List.of(write)).thenCompose(done -> {
                if (done.isPresent()) {
                    own(id).ifPresent(session -> session.seen(epoch, found.get().version() + 1));
                    return CompletableFuture.completedFuture(Optional.of(epoch));
                }
                return attempt < ATTEMPTS
                        ? raise(id, epoch, attempt + 1)
                        : CompletableFuture.failedFuture(contended("the epoch of a session"));
            });
        });
    }

    static StoreException contended(String what) {
        return new StoreException(
                Reason.UNAVAILABLE, Effect.NONE, what + " was changed by other clients " + ATTEMPTS + " times", null);
    }

    CompletableFuture<Void> close(SessionId id) {
        if (!NodeLayout.isSession(id)) {
            return CompletableFuture.completedFuture(null);
        }
        OwnSession session = own.get(id);
        return session == null || session.hasEnded() ? removals.remove(id) : end(id);
    }

    /** Ends a session that this client has opened, or may have opened. */
    private CompletableFuture<Void> end(SessionId id) {
        OwnSession session = own.get(id);
        CompletableFuture<Void> removed = removals.add(id);
        if (session != null && session.end()) {
            forget(id, removed);
        }
        return removed;
    }

    /** The remaining time of an own session by the clock of this client; empty for others. */
    Optional<Duration> left(SessionId id) {
        long now = ticks.getAsLong();
        return own(id).map(session -> Duration.ofNanos(Math.max(0, session.leftNanos(now))));
    }

    /** The remaining times of the open sessions. */
    Map<SessionId, Duration> left() {
        Map<SessionId, Duration> all = new HashMap<>();
        own.keySet().forEach(id -> left(id).ifPresent(time -> all.put(id, time)));
        return all;
    }
}
