package dev.holdfast.store.etcd;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.DamagedRecord;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.Stages;
import dev.holdfast.store.etcd.rpc.EtcdClient;
import dev.holdfast.store.etcd.rpc.KeyValue;
import dev.holdfast.store.etcd.rpc.Range;
import dev.holdfast.store.etcd.rpc.RangeResponse;
import dev.holdfast.store.etcd.rpc.Transaction;
import dev.holdfast.store.etcd.rpc.Transaction.Branch;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.Arrivals;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.History;
import dev.holdfast.store.register.IndexPage;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterListener;
import dev.holdfast.store.register.RegisterPage;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.ServerTime;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.register.WriteResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The register adapter for etcd. */
final class EtcdAdapter implements RegisterAdapter {

    private static final int LARGEST_PAGE = 256;

    /** A page of entries with the longest names has 6 MB. */
    private static final int LARGEST_INDEX_PAGE = 10_000;

    private static final RegisterRecord NO_RECORD = new RegisterRecord(Optional.empty(), WriteTransaction.MISSING, 0);

    private final EtcdClient client;
    private final KeyLayout keys;
    private final RegisterTraits traits;
    private final StoreThreads threads;
    private final EtcdSessions sessions;
    private final EtcdAnnotations annotations;
    private volatile @Nullable EtcdWatches watches;

    /**
     * Makes an adapter, without a request.
     *
     * @param threads closed with the adapter, like the client
     */
    EtcdAdapter(EtcdClient client, KeyLayout keys, RegisterTraits traits, StoreThreads threads) {
        this.client = client;
        this.keys = keys;
        this.traits = traits;
        this.threads = threads;
        this.sessions = new EtcdSessions(client, keys);
        this.annotations = new EtcdAnnotations(client, keys);
    }

    @Override
    public RegisterTraits traits() {
        return traits;
    }

    @Override
    public void listen(RegisterListener listener) {
        watches = new EtcdWatches(client, keys, sessions, threads, listener);
    }

    private EtcdWatches watches() {
        EtcdWatches present = watches;
        if (present == null) {
            throw new IllegalStateException("No listener is registered yet");
        }
        return present;
    }

    @Override
    public ServerTime time() {
        return ServerTime.NONE;
    }

    /** Guesses always: a failed transaction returns the record, and costs hardly more than a read. */
    @Override
    public Optional<RegisterRecord> guess(ResourceName resource) {
        return Optional.of(NO_RECORD);
    }

    @Override
    public CompletionStage<RegisterRecord> read(ResourceName resource) {
        return unwrapped(() -> client.range(Range.of(keys.record(resource)))
                .thenApply(answer -> WriteTransaction.record(answer.only())));
    }

    @Override
    public CompletionStage<WriteResult> write(ConditionalWrite write) {
        return unwrapped(() -> {
            WriteTransaction transaction = new WriteTransaction(keys, write);
            return client.run(transaction.request()).thenApply(transaction::result);
        });
    }

    @Override
    public CompletionStage<Optional<Long>> announce(Arrival arrival, Map<SessionId, byte[]> mail) {
        return unwrapped(() -> sessions.announce(arrival, mail));
    }

    @Override
    public CompletionStage<Arrivals> arrivals(ResourceName resource) {
        Transaction reads =
                new Transaction().range(Branch.THEN, keys.arrivals(resource)).get(Branch.THEN, keys.record(resource));
        return unwrapped(() -> client.run(reads).thenApply(answer -> {
            List<Arrival> waiting = answer.ranges().get(0).keys().stream()
                    .sorted(Comparator.comparingLong(KeyValue::createRevision))
                    .map(key -> keys.arrival(resource, key.key(), key.value()))
                    .toList();
            return new Arrivals(
                    waiting, WriteTransaction.record(answer.ranges().get(1).only()));
        }));
    }

    @Override
    public CompletionStage<Void> retract(Arrival arrival) {
        return unwrapped(() -> client.run(new Transaction().delete(keys.arrival(arrival.claim())))
                .thenAccept(done -> {}));
    }

    @Override
    public CompletionStage<OpenedSession> openSession(Duration ttl, String label) {
        return unwrapped(() -> open(ttl, label, true));
    }

    @Override
    public CompletionStage<OpenedSession> openLease(Duration length) {
        return unwrapped(() -> open(length, "", false));
    }

    private CompletionStage<OpenedSession> open(Duration ttl, String label, boolean hasMailbox) {
        return sessions.open(ttl, label)
                .thenCompose(opened -> watches().addOwn(opened.id(), hasMailbox).thenApply(began -> opened));
    }

    @Override
    public CompletionStage<Optional<Long>> keepAlive(SessionId session, long epoch, Duration responseTimeout) {
        EtcdClient.Connection used = client.connection();
        CompletableFuture<Optional<Long>> answer = unwrapped(() -> sessions.keepAlive(session, epoch));
        if (!answer.isDone()) {
            Future<?> suspicion = threads.after(responseTimeout, () -> client.suspect(used));
            var unused = answer.whenComplete((epochThen, failure) -> suspicion.cancel(false));
        }
        return answer;
    }

    @Override
    public CompletionStage<Optional<Long>> raiseEpoch(SessionId session, long epoch) {
        return unwrapped(() -> sessions.raiseEpoch(session, epoch));
    }

    @Override
    public CompletionStage<Void> closeSession(SessionId session) {
        return unwrapped(() -> sessions.close(session));
    }

    @Override
    public CompletionStage<Map<SessionId, SessionRecord>> sessions(Set<SessionId> asked) {
        return unwrapped(() -> sessions.read(asked));
    }

    @Override
    public CompletionStage<Map<SessionId, Duration>> remaining(Set<SessionId> asked) {
        return unwrapped(() -> sessions.remaining(asked));
    }

    @Override
    public void watchSessions(Set<SessionId> others) {
        watches().setOthers(others);
    }

    @Override
    public CompletionStage<Optional<IndexPage>> claims(SessionId session, Optional<String> cursor, int limit) {
        Range all = keys.claims(session).first(Math.min(limit, LARGEST_INDEX_PAGE));
        Range range =
                cursor.map(last -> all.startingAfter(keys.claim(session, last))).orElse(all);
        Transaction reads =
                new Transaction().get(Branch.THEN, keys.session(session)).range(Branch.THEN, range);
        return unwrapped(() -> client.run(reads)
                .thenApply(answer -> answer.ranges()
                        .get(0)
                        .only()
                        .map(lives -> indexPage(session, answer.ranges().get(1)))));
    }

    private IndexPage indexPage(SessionId session, RangeResponse answer) {
        List<KeyValue> found = answer.keys();
        return new IndexPage(
                found.stream()
                        .map(key -> keys.indexEntry(session, key.key(), key.value()))
                        .toList(),
                answer.hasMore()
                        ? Optional.of(
                                keys.entry(session, found.get(found.size() - 1).key()))
                        : Optional.empty());
    }

    @Override
    public CompletionStage<Boolean> annotate(ClaimRef claim, long seq, String text) {
        return unwrapped(() -> annotations.annotate(claim, seq, text));
    }

    @Override
    public CompletionStage<Void> dropAnnotation(ClaimRef claim) {
        return unwrapped(() -> annotations.drop(claim));
    }

    @Override
    public CompletionStage<Map<ClaimRef, String>> annotations(Set<ClaimRef> claims) {
        return unwrapped(() -> annotations.read(claims));
    }

    @Override
    public CompletionStage<History> history(ResourceName resource) {
        return unwrapped(() -> client.range(Range.of(keys.history(resource)))
                .thenApply(answer -> answer.only()
                        .map(key -> new History(Optional.of(key.value()), key.modRevision()))
                        .orElseGet(() -> new History(Optional.empty(), 0))));
    }

    @Override
    public CompletionStage<Boolean> replaceHistory(ResourceName resource, History expected, byte[] content) {
        byte[] key = keys.history(resource);
        Transaction write = new Transaction();
        if (expected.content().isEmpty()) {
            write.createdBy(key, 0);
        } else {
            write.changedBy(key, expected.version());
        }
        return unwrapped(() -> client.run(write.put(key, content, 0)).thenApply(answer -> answer.succeeded()));
    }

    @Override
    public CompletionStage<RegisterPage> list(String prefix, Optional<String> cursor, int limit) {
        return unwrapped(() -> {
            Range all = keys.records(prefix).first(Math.min(limit, LARGEST_PAGE));
            Range page =
                    cursor.map(last -> all.startingAfter(keys.recordAt(last))).orElse(all);
            return client.range(page).thenApply(this::page);
        });
    }

    private RegisterPage page(RangeResponse answer) {
        List<RegisterPage.Entry> entries = new ArrayList<>();
        List<DamagedRecord> unnamed = new ArrayList<>();
        for (KeyValue key : answer.keys()) {
            keys.resource(key.key())
                    .ifPresentOrElse(
                            resource -> entries.add(new RegisterPage.Entry(
                                    resource, WriteTransaction.record(Optional.of(key)), Duration.ZERO)),
                            () -> unnamed.add(unnamed(key)));
        }
        return new RegisterPage(
                entries,
                unnamed,
                answer.hasMore()
                        ? Optional.of(keys.cursor(
                                answer.keys().get(answer.keys().size() - 1).key()))
                        : Optional.empty());
    }

    private DamagedRecord unnamed(KeyValue key) {
        return new DamagedRecord(
                keys.name(key.key(), StandardCharsets.UTF_8),
                "the key '" + ResourceName.printable(key.name())
                        + "' was not written by Holdfast: no lock can have this name");
    }

    @Override
    public CompletionStage<Optional<String>> takeTurn(Duration pause) {
        return unwrapped(() -> client.range(Range.of(keys.turn()))
                .thenCompose(present -> present.only().isPresent()
                        ? CompletableFuture.completedFuture(Optional.empty())
                        : sessions.takeTurn(pause)));
    }

    @Override
    public CompletionStage<Void> endTurn(String cursor) {
        Transaction put = new Transaction().put(keys.cursor(), cursor.getBytes(StandardCharsets.UTF_8), 0);
        return unwrapped(() -> client.run(put).thenAccept(done -> {}));
    }

    /** The outcome of a request, with its failure unwrapped. */
    private <T> CompletableFuture<T> unwrapped(Supplier<CompletionStage<T>> request) {
        CompletableFuture<T> result = new CompletableFuture<>();
        var unused = request.get().whenComplete((answer, failure) -> {
            if (failure == null) {
                result.complete(answer);
            } else {
                result.completeExceptionally(known(Stages.causeOf(failure)));
            }
        });
        return result;
    }

    private StoreException known(Throwable failure) {
        return failure instanceof StoreException known
                ? known
                : new StoreException(
                        Reason.CORRUPT,
                        Effect.UNKNOWN,
                        "the lock data at " + client.name() + " could not be read: " + failure,
                        failure);
    }

    @Override
    public void close() {
        EtcdWatches present = watches;
        if (present != null) {
            present.close();
        }
        client.close();
        threads.close();
    }
}
