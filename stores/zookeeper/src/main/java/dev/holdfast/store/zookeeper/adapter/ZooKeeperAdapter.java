package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.Arrivals;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.History;
import dev.holdfast.store.register.IndexPage;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterListener;
import dev.holdfast.store.register.RegisterPage;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.ServerTime;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.register.WriteResult;
import dev.holdfast.store.zookeeper.client.HandleSource;
import dev.holdfast.store.zookeeper.client.LeaderContact;
import dev.holdfast.store.zookeeper.client.Node;
import dev.holdfast.store.zookeeper.client.Requests;
import dev.holdfast.store.zookeeper.client.ServerClock;
import dev.holdfast.store.zookeeper.client.ZooKeeperFailures;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** The register adapter for ZooKeeper. */
public final class ZooKeeperAdapter implements RegisterAdapter {

    private static final Duration MIN_TTL = Duration.ofMillis(200);
    private static final Duration GRANULARITY = Duration.ofMillis(200);

    /** The most entries and pieces of mail in a write: with paths of a hundred bytes each, half of a packet. */
    private static final int MOST_CHANGES = 2_000;

    /** The part of a packet that is not operations of a write. */
    private static final int PACKET_HEAD = 1_024;

    /** The longest time that closing waits for removals. */
    private static final Duration LONGEST_END = Duration.ofSeconds(2);

    private static final byte[] NOTHING = {};

    private final HandleSource source;
    private final Requests requests;
    private final ServerClock clock;
    private final LeaderContact contact;
    private final NodeLayout layout;
    private final ScheduledThreadPoolExecutor timer;
    private final SessionWatches watches;
    private final Mailboxes mailboxes;
    private final SessionRemovals removals;
    private final ZooKeeperSessions sessions;
    private final Records records;
    private final ArrivalNodes arrivals;
    private final AnnotationNodes annotations;
    private final HistoryNodes histories;
    private final RemainingTimes remainingTimes;
    private final int maxRecord;
    private final PacketLimit limit;
    private final Duration requestTimeout;
    private final LongSupplier ticks;
    private final AtomicInteger turns = new AtomicInteger((int) Randomness.nextLong());
    private final AtomicBoolean closed = new AtomicBoolean();
    private final RegisterTraits traits;
    private volatile @Nullable RegisterListener listener;

    /**
     * The options of a store.
     *
     * @param root the path of the node below which all others are
     * @param acl the permissions of these nodes
     * @param connectTimeout the time in which the store must open
     * @param requestTimeout the longest time for an answer
     * @param tick the tick for {@link LeaderContact}
     * @param maxRecord the largest record in bytes
     */
    public record Options(
            String root,
            List<ACL> acl,
            Duration connectTimeout,
            Duration requestTimeout,
            Optional<Duration> tick,
            int maxRecord) {}

    private ZooKeeperAdapter(HandleSource source, Options options, LongSupplier ticks, LongSupplier wallMillis) {
        this.source = source;
        this.layout = new NodeLayout(options.root());
        this.clock = new ServerClock(ticks, wallMillis);
        this.contact = new LeaderContact(options.tick(), ticks, wallMillis);
        this.timer = new ScheduledThreadPoolExecutor(1, work -> {
            Thread thread = new Thread(work, "holdfast-zookeeper-timer");
            thread.setDaemon(true);
            return thread;
        });
        timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        this.requests = new Requests(source, options.acl(), options.requestTimeout(), ticks, clock, contact);
        this.watches = new SessionWatches(layout, requests, this::notifyGone);
        this.mailboxes = new Mailboxes(layout, requests, timer, this::notifyDelivered);
        this.removals = new SessionRemovals(layout, requests);
        this.sessions =
                new ZooKeeperSessions(layout, requests, source, contact, timer, ticks, watches, mailboxes, removals);
        this.records = new Records(layout, requests, clock);
        this.arrivals = new ArrivalNodes(layout, requests, sessions, records);
        this.annotations = new AnnotationNodes(layout, requests);
        this.histories = new HistoryNodes(layout, requests);
        this.remainingTimes = new RemainingTimes(layout, requests, sessions, clock);
        this.maxRecord = options.maxRecord();
        this.requestTimeout = options.requestTimeout();
        this.ticks = ticks;
        try {
            beginSession();
            source.start(new Connections(), options.connectTimeout());
            this.limit = new PacketLimit(source.packetBuffer() - PACKET_HEAD, ticks);
            Requests.await(new LayoutNodes(layout, requests).ensure(), options.connectTimeout());
            Requests.await(requests.set(layout.clock(), NOTHING), options.connectTimeout());
            // Alone, because a server before 3.6 closes the connection.
            CompletableFuture<Boolean> areTreesWatched = mailboxes.learnWhetherTreesAreWatched();
            if (!source.isLent() && !Requests.await(areTreesWatched, options.connectTimeout())) {
                requests.awaitAnswer(layout.clock(), options.connectTimeout());
            }
            this.traits = serverTraits();
        } catch (RuntimeException e) {
            close();
            throw e;
        }
        every(options.requestTimeout().dividedBy(4), this::tidy);
        every(contact.pause(), this::stayInContact);
    }

    private void every(Duration pause, Runnable work) {
        var unused = timer.scheduleWithFixedDelay(work, pause.toNanos(), pause.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Notes that an own handle opens its session; that of a borrowed one may be older. */
    private void beginSession() {
        if (!source.isLent()) {
            contact.sessionOpening(ticks.getAsLong());
        }
    }

    /**
     * Connects, and creates the missing nodes.
     *
     * @param ticks the monotonic clock, in nanoseconds
     * @param wallMillis the wall clock, which continues while the machine sleeps
     * @throws StoreException if that is not possible
     */
    public static ZooKeeperAdapter open(
            HandleSource source, Options options, LongSupplier ticks, LongSupplier wallMillis) {
        return new ZooKeeperAdapter(source, options, ticks, wallMillis);
    }

    /** On the event thread of the handle. */
    private final class Connections implements HandleSource.Listener {
        @Override
        public void negotiated(Duration timeout) {
            contact.connected(timeout);
            sessions.endLongerThan(longestTtl());
        }

        @Override
        public void connected() {
            removals.retry();
            watches.retry();
            mailboxes.connected();
            RegisterListener present = listener;
            if (present != null) {
                present.resubscribed();
            }
        }

        @Override
        public void expired() {
            beginSession();
            watches.handleReplaced();
            sessions.allGone();
        }
    }

    private RegisterTraits serverTraits() {
        return new RegisterTraits(
                "ZooKeeper",
                "ZooKeeper",
                RegisterTraits.Clock.WALL,
                MIN_TTL,
                longestTtl(),
                GRANULARITY,
                false,
                false,
                requests.canBlock(),
                maxRecord,
                MOST_CHANGES);
    }

    private Duration longestTtl() {
        return GRANULARITY.multipliedBy(Math.max(1, contact.longestTtl().dividedBy(GRANULARITY)));
    }

    /** Sends a packet for the next keep-alive to follow; its answer is ignored. */
    private void stayInContact() {
        Requests.ignoreOutcome(requests.get(layout.clock(), null));
    }

    private void tidy() {
        source.maintain(ticks.getAsLong());
        requests.failTimedOut();
        watches.retry();
        mailboxes.retry();
        if (!removals.isEmpty()) {
            removals.retry();
        }
    }

    private void notifyGone(SessionId id) {
        sessions.gone(id);
        annotations.dropAll(id);
        RegisterListener present = listener;
        if (present != null) {
            present.gone(id);
        }
    }

    private void notifyDelivered(SessionId id, byte[] mail, RecordVersion record) {
        RegisterListener present = listener;
        if (present != null) {
            present.delivered(id, mail, record);
        }
    }

    /** The path of the root. */
    public String root() {
        return layout.root();
    }

    @Override
    public RegisterTraits traits() {
        return traits;
    }

    @Override
    public void listen(RegisterListener listener) {
        this.listener = listener;
    }

    @Override
    public ServerTime time() {
        return clock.time();
    }

    @Override
    public Optional<RegisterRecord> guess(ResourceName resource) {
        return records.guess(resource);
    }

    @Override
    public Optional<CompletionStage<RegisterRecord>> peek(ResourceName resource) {
        return records.peek(resource).map(ZooKeeperAdapter::answered);
    }

    @Override
    public CompletionStage<RegisterRecord> read(ResourceName resource) {
        return answered(records.read(resource));
    }

    @Override
    public CompletionStage<WriteResult> write(ConditionalWrite write) {
        return write(write, Duration.ZERO);
    }

    @Override
    public CompletionStage<WriteResult> write(ConditionalWrite write, Duration mayBlockFor) {
        if (write.expected().incarnation() < 0 || write.expected().change() < Records.MISSING) {
            throw new IllegalArgumentException("No record has the version " + write.expected());
        }
        return answered(
                new WriteTransaction(layout, requests, records, arrivals, sessions, limit, write).run(mayBlockFor));
    }

    @Override
    public CompletionStage<Optional<Long>> announce(Arrival arrival, Map<SessionId, byte[]> mail) {
        return answered(arrivals.announce(arrival, mail));
    }

    @Override
    public CompletionStage<Arrivals> arrivals(ResourceName resource) {
        return answered(arrivals.read(resource));
    }

    @Override
    public CompletionStage<Void> retract(Arrival arrival) {
        return answered(arrivals.retract(arrival)).thenAccept(done -> {});
    }

    @Override
    public CompletionStage<OpenedSession> openSession(Duration ttl, String label) {
        Duration longest = longestTtl();
        if (ttl.compareTo(longest) > 0) {
            return CompletableFuture.failedFuture(new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    "a session of " + DurationFormat.format(ttl)
                            + " was requested, but the server keeps this client for only "
                            + DurationFormat.format(contact.timeout()) + ", enough for sessions of "
                            + DurationFormat.format(longest)
                            + ": raise maxSessionTimeout on all servers, or request a shorter session",
                    null));
        }
        Duration least = ttl.compareTo(MIN_TTL) < 0 ? MIN_TTL : ttl;
        long steps = least.plus(GRANULARITY).minusNanos(1).dividedBy(GRANULARITY);
        return answered(sessions.open(GRANULARITY.multipliedBy(steps), label));
    }

    @Override
    public CompletionStage<OpenedSession> openLease(Duration length) {
        throw new UnsupportedOperationException("ZooKeeper has a clock, but no leases");
    }

    @Override
    public CompletionStage<Optional<Long>> keepAlive(SessionId session, long epoch, Duration responseTimeout) {
        return answered(sessions.keepAlive(session, epoch, responseTimeout));
    }

    @Override
    public CompletionStage<Optional<Long>> raiseEpoch(SessionId session, long epoch) {
        return answered(sessions.raise(session, epoch));
    }

    @Override
    public CompletionStage<Void> closeSession(SessionId session) {
        annotations.dropAll(session);
        return answered(sessions.close(session));
    }

    @Override
    public CompletionStage<Map<SessionId, SessionRecord>> sessions(Set<SessionId> ids) {
        CompletableFuture<Boolean> synced = requests.sync(layout.root());
        return answered(Requests.each(ids, sessions::read).thenCombine(synced, (found, done) -> found));
    }

    @Override
    public CompletionStage<Map<SessionId, Duration>> remaining(Set<SessionId> ids) {
        return answered(remainingTimes.read(ids));
    }

    @Override
    public void watchSessions(Set<SessionId> ids) {
        watches.replaceForeign(ids);
    }

    @Override
    public CompletionStage<Optional<IndexPage>> claims(SessionId session, Optional<String> cursor, int limit) {
        return answered(new SessionIndex(layout, requests, sessions).page(session, cursor, limit));
    }

    @Override
    public CompletionStage<Boolean> annotate(ClaimRef claim, long seq, String text) {
        return answered(annotations.annotate(claim, seq, text));
    }

    @Override
    public CompletionStage<Void> dropAnnotation(ClaimRef claim) {
        return answered(annotations.drop(claim)).thenAccept(done -> {});
    }

    @Override
    public CompletionStage<Map<ClaimRef, String>> annotations(Set<ClaimRef> claims) {
        CompletableFuture<Boolean> synced = requests.sync(layout.root());
        return answered(Requests.each(claims, annotations::read).thenCombine(synced, (found, done) -> found));
    }

    @Override
    public CompletionStage<History> history(ResourceName resource) {
        return answered(histories.read(resource));
    }

    @Override
    public CompletionStage<Boolean> replaceHistory(ResourceName resource, History expected, byte[] content) {
        return answered(histories.replace(resource, expected, content));
    }

    @Override
    public CompletionStage<RegisterPage> list(String prefix, Optional<String> cursor, int limit) {
        return answered(records.list(prefix, cursor, limit));
    }

    @Override
    public CompletionStage<Optional<String>> takeTurn(Duration pause) {
        String path = layout.turn();
        return answered(requests.get(path, null).thenCompose(found -> {
            Node node = found.orElseThrow(() -> ZooKeeperFailures.missing(path));
            boolean isFresh = clock.since(node.stat().getMtime()).compareTo(pause) < 0;
            boolean isNew = node.stat().getVersion() == 0;
            return isFresh && !isNew ? CompletableFuture.completedFuture(Optional.empty()) : takeTurn(path, node);
        }));
    }

    private CompletableFuture<Optional<String>> takeTurn(String path, Node node) {
        Op take = Op.setData(path, node.data(), node.stat().getVersion());
        return requests.multi(List.of(take)).thenApply(done -> {
            if (done.isPresent()) {
                int shard = Math.floorMod(turns.getAndIncrement(), NodeLayout.SESSION_SHARDS);
                Requests.ignoreOutcome(removals.clearLeftovers(shard)); // a later turn removes the rest
            }
            return done.map(taken -> new String(node.data(), StandardCharsets.UTF_8));
        });
    }

    @Override
    public CompletionStage<Void> endTurn(String cursor) {
        return answered(requests.set(layout.turn(), cursor.getBytes(StandardCharsets.UTF_8)))
                .thenAccept(done -> {});
    }

    /** Converts each failure to a {@link StoreException}. */
    private static <T> CompletableFuture<T> answered(CompletableFuture<T> stage) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Requests.ignoreOutcome(stage.whenComplete((answer, failure) -> {
            if (failure == null) {
                result.complete(answer);
            } else {
                result.completeExceptionally(ZooKeeperFailures.of(failure));
            }
        }));
        return result;
    }

    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            return;
        }
        listener = null;
        removals.await(requestTimeout.compareTo(LONGEST_END) < 0 ? requestTimeout : LONGEST_END);
        requests.close();
        if (source.isLent()) {
            Requests later = new Requests(source, requests.acl(), requestTimeout, ticks, clock, contact);
            LentSessionEnd.schedule(sessions.left(), new SessionRemovals(layout, later));
        }
        source.close();
        timer.shutdownNow();
        try {
            if (!timer.awaitTermination(10, TimeUnit.SECONDS)) {
                throw new IllegalStateException("The timer of a ZooKeeper store must not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
