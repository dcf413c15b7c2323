package dev.holdfast.store.etcd;

import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.etcd.rpc.EtcdClient;
import dev.holdfast.store.etcd.rpc.LeaseResponse;
import dev.holdfast.store.etcd.rpc.RangeResponse;
import dev.holdfast.store.etcd.rpc.ResponseHeader;
import dev.holdfast.store.etcd.rpc.Transaction;
import dev.holdfast.store.etcd.rpc.Transaction.Branch;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.SessionRecord;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Sessions and leases: each is an etcd lease with a key that ends with it.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; none blocks.
 */
final class EtcdSessions {

    /** Below the default limit of a server for the operations of a transaction. */
    private static final int MOST_AT_ONCE = 100;

    /** The leader may change during a renewal; more changes than this mean that the cluster has no stable leader. */
    private static final int RENEWALS = 3;

    private static final long NANOS = 999_999_999;

    private final EtcdClient client;
    private final KeyLayout keys;

    /** The final read of the last keep-alive of each session that this client renews. */
    private final Map<SessionId, Confirmed> confirmed = new ConcurrentHashMap<>();

    /**
     * A read of a session, confirmed by the majority.
     *
     * @param connection the connection that it used
     */
    private record Confirmed(RangeResponse read, EtcdClient.Connection connection) {}

    EtcdSessions(EtcdClient client, KeyLayout keys) {
        this.client = client;
        this.keys = keys;
    }

    CompletionStage<OpenedSession> open(Duration ttl, String label) {
        return client.grant(wholeSeconds(ttl)).thenCompose(granted -> {
            OpenedSession opened =
                    new OpenedSession(KeyLayout.sessionOf(granted.id()), Duration.ofSeconds(granted.seconds()));
            byte[] value = SessionValue.encoded(new SessionRecord(0, label, opened.ttl()));
            return client.run(new Transaction().put(keys.session(opened.id()), value, granted.id()))
                    .thenApply(done -> opened);
        });
    }

    private static long wholeSeconds(Duration ttl) {
        return ttl.plusNanos(NANOS).toSeconds();
    }

    CompletionStage<Map<SessionId, SessionRecord>> read(Collection<SessionId> sessions) {
        CompletionStage<Map<SessionId, SessionRecord>> all = CompletableFuture.completedFuture(Map.of());
        List<SessionId> ids = List.copyOf(sessions);
        for (int i = 0; i < ids.size(); i += MOST_AT_ONCE) {
            List<SessionId> some = ids.subList(i, Math.min(ids.size(), i + MOST_AT_ONCE));
            all = all.thenCombine(readSome(some), (before, more) -> {
                Map<SessionId, SessionRecord> both = new HashMap<>(before);
                both.putAll(more);
                return both;
            });
        }
        return all;
    }

    private CompletionStage<Map<SessionId, SessionRecord>> readSome(List<SessionId> sessions) {
        Transaction reads = new Transaction();
        sessions.forEach(session -> reads.get(Branch.THEN, keys.session(session)));
        return client.run(reads).thenApply(answer -> {
            Map<SessionId, SessionRecord> living = new HashMap<>();
            for (int i = 0; i < sessions.size(); i++) {
                SessionId session = sessions.get(i);
                answer.ranges().get(i).only().ifPresent(key -> living.put(session, SessionValue.decoded(key.value())));
            }
            return living;
        });
    }

    /*
     * A renewal is not a write. A member that believes it leads answers it alone, and may believe so for a while after
     * it was cut off or paused, while its successor lets the session end. So a renewal counts only between two
     * linearizable reads in the same term: then the member that answered led until after the renewal, and its successor
     * renews every session for its whole ttl. The first read may be old if it used the same connection, because a
     * member's term only increases. So it is the second read of the previous keep-alive.
     */
    CompletionStage<Optional<Long>> keepAlive(SessionId session, long epoch) {
        if (client.isReplaced()) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        EtcdClient.Connection connection = client.connection();
        Confirmed last = confirmed.remove(session);
        return (last != null && last.connection().equals(connection)
                        ? CompletableFuture.completedFuture(last.read())
                        : client.range(keys.one(session)))
                .thenCompose(before -> keepAlive(session, epoch, before, RENEWALS, connection));
    }

    private CompletionStage<Optional<Long>> keepAlive(
            SessionId session, long epoch, RangeResponse before, int attempts, EtcdClient.Connection connection) {
        Optional<Long> present = epochOf(before);
        if (present.isEmpty() || present.get() > epoch) {
            return CompletableFuture.completedFuture(present);
        }
        if (attempts == 0) {
            return CompletableFuture.failedFuture(unavailable("keeps changing its leader"));
        }
        return client.renew(KeyLayout.leaseOf(session))
                .thenCompose(renewed -> client.range(keys.one(session)).thenCompose(after -> {
                    boolean isRenewed =
                            isOfOneTerm(before.header(), renewed.header(), after.header()) && renewed.seconds() > 0;
                    if (!isRenewed) {
                        return keepAlive(session, epoch, after, attempts - 1, connection);
                    }
                    if (client.connection().equals(connection) && epochOf(after).isPresent()) {
                        confirmed.put(session, new Confirmed(after, connection));
                    }
                    return CompletableFuture.completedFuture(epochOf(after));
                }));
    }

    private static boolean isOfOneTerm(ResponseHeader before, ResponseHeader renewal, ResponseHeader after) {
        return before.term() == renewal.term() && renewal.term() == after.term();
    }

    private static Optional<Long> epochOf(RangeResponse answer) {
        return answer.only().map(key -> SessionValue.decoded(key.value()).epoch());
    }

    private StoreException unavailable(String what) {
        return new StoreException(Reason.UNAVAILABLE, Effect.UNKNOWN, client.name() + " " + what, null);
    }

    CompletionStage<Optional<Long>> raiseEpoch(SessionId session, long epoch) {
        confirmed.remove(session);
        return client.range(keys.one(session))
                .thenCompose(read -> read.only()
                        .map(key -> raise(session, SessionValue.decoded(key.value()), epoch))
                        .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty())));
    }

    private CompletionStage<Optional<Long>> raise(SessionId session, SessionRecord read, long epoch) {
        if (read.epoch() >= epoch) {
            return CompletableFuture.completedFuture(Optional.of(read.epoch()));
        }
        byte[] key = keys.session(session);
        byte[] raised = SessionValue.encoded(new SessionRecord(epoch, read.label(), read.ttl()));
        Transaction raise = new Transaction()
                .valueBefore(key, SessionValue.ofEpochBelow(epoch))
                .put(key, raised, KeyLayout.leaseOf(session))
                .get(Branch.ELSE, key);
        return client.run(raise)
                .thenApply(answer -> answer.succeeded()
                        ? Optional.of(epoch)
                        : epochOf(answer.ranges().get(0)));
    }

    /** Announces the claim without mail if a session that would get mail has ended. */
    CompletionStage<Optional<Long>> announce(Arrival arrival, Map<SessionId, byte[]> mail) {
        SessionId session = arrival.claim().session();
        byte[] key = keys.session(session);
        byte[] value = KeyLayout.arrivalValue(arrival);
        Transaction put = new Transaction()
                .valueBefore(key, SessionValue.ofEpochBelow(arrival.epoch() + 1))
                .put(keys.arrival(arrival.claim()), value, KeyLayout.leaseOf(session))
                .get(Branch.THEN, key)
                .get(Branch.ELSE, key);
        mail.forEach((to, content) -> put.exists(keys.session(to))
                .put(keys.mailbox(to), MailValue.encoded(MailValue.DELETED, content), KeyLayout.leaseOf(to)));
        return client.run(put).thenCompose(answer -> {
            Optional<Long> epoch = epochOf(answer.ranges().get(0));
            boolean isRefused = epoch.isEmpty() || epoch.get() > arrival.epoch();
            return answer.succeeded() || isRefused || mail.isEmpty()
                    ? CompletableFuture.completedFuture(epoch)
                    : announce(arrival, Map.of());
        });
    }

    CompletionStage<Void> close(SessionId session) {
        confirmed.remove(session);
        long lease = KeyLayout.leaseOf(session);
        return lease == 0 ? CompletableFuture.completedFuture(null) : client.revoke(lease);
    }

    /** Takes the turn to clean up until a lease without renewals ends, unless another client has it. */
    CompletionStage<Optional<String>> takeTurn(Duration pause) {
        return client.grant(wholeSeconds(pause)).thenCompose(lease -> {
            Transaction take = new Transaction()
                    .createdBy(keys.turn(), 0)
                    .put(keys.turn(), new byte[0], lease.id())
                    .get(Branch.THEN, keys.cursor());
            return client.run(take)
                    .thenApply(answer -> answer.succeeded()
                            ? Optional.of(answer.ranges()
                                    .get(0)
                                    .only()
                                    .map(key -> new String(key.value(), StandardCharsets.UTF_8))
                                    .orElse(""))
                            : Optional.empty());
        });
    }

    CompletionStage<Map<SessionId, Duration>> remaining(Set<SessionId> sessions) {
        List<CompletableFuture<LeaseResponse>> responses = new ArrayList<>();
        List<SessionId> ids = List.copyOf(sessions);
        ids.forEach(session ->
                responses.add(client.timeToLive(KeyLayout.leaseOf(session)).toCompletableFuture()));
        return CompletableFuture.allOf(responses.toArray(new CompletableFuture<?>[0]))
                .thenCompose(all -> {
                    Map<SessionId, Duration> remaining = new HashMap<>();
                    Set<SessionId> expired = new HashSet<>();
                    for (int i = 0; i < ids.size(); i++) {
                        long seconds = responses.get(i).join().seconds();
                        if (seconds >= 0) {
                            remaining.put(ids.get(i), Duration.ofSeconds(seconds));
                        } else {
                            expired.add(ids.get(i));
                        }
                    }
                    return expired.isEmpty()
                            ? CompletableFuture.completedFuture(remaining)
                            : withoutTime(remaining, expired);
                });
    }

    /** Reads them; an expired lease has ended only when its keys are deleted. */
    private CompletionStage<Map<SessionId, Duration>> withoutTime(
            Map<SessionId, Duration> remaining, Set<SessionId> expired) {
        return read(expired).thenApply(living -> {
            living.keySet().forEach(session -> remaining.put(session, Duration.ZERO));
            return remaining;
        });
    }
}
