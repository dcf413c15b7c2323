package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.Arrivals;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.zookeeper.client.Node;
import dev.holdfast.store.zookeeper.client.Requests;
import dev.holdfast.store.zookeeper.client.ZooKeeperFailures;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;

/** The nodes of announced claims. Thread-safe. */
final class ArrivalNodes {

    /** How often an announcement is repeated that was refused because this client had an outdated epoch. */
    private static final int ATTEMPTS = 5;

    private static final byte[] NOTHING = {};

    private static final RecordVersion NO_RECORD = new RecordVersion(0, Records.MISSING);

    private final NodeLayout layout;
    private final Requests requests;
    private final ZooKeeperSessions sessions;
    private final Records records;

    ArrivalNodes(NodeLayout layout, Requests requests, ZooKeeperSessions sessions, Records records) {
        this.layout = layout;
        this.requests = requests;
        this.sessions = sessions;
        this.records = records;
    }

    CompletableFuture<Optional<Long>> announce(Arrival arrival, Map<SessionId, byte[]> mail) {
        Optional<OwnSession> session = sessions.own(arrival.claim().session());
        return session.isPresent()
                ? announce(arrival, mail, session.get(), 1)
                : requests.sync(layout.root()).thenApply(done -> Optional.empty());
    }

    private CompletableFuture<Optional<Long>> announce(
            Arrival arrival, Map<SessionId, byte[]> mail, OwnSession session, int attempt) {
        OwnSession.Epoch known = session.epoch();
        if (known.epoch() > arrival.epoch()) {
            return CompletableFuture.completedFuture(Optional.of(known.epoch()));
        }
        SessionId id = session.id();
        List<Op> operations = new ArrayList<>();
        operations.add(Op.check(layout.session(id), known.version()));
        operations.add(Op.create(layout.arrival(arrival), NOTHING, requests.acl(), CreateMode.EPHEMERAL));
        mail.keySet().forEach(to -> operations.add(Op.check(layout.session(to), -1)));
        operations.addAll(MailOperations.of(layout, requests.acl(), NO_RECORD, mail));
        return requests.multi(operations).thenCompose(done -> {
            if (done.isPresent()) {
                return CompletableFuture.completedFuture(Optional.of(known.epoch()));
            }
            return sessions.readVersion(id).thenCompose(present -> {
                if (present.isEmpty()) {
                    return CompletableFuture.completedFuture(Optional.empty());
                }
                if (!mail.isEmpty()) {
                    return announce(arrival, Map.of(), session, attempt); // one of the receivers may have ended
                }
                if (present.get().version() == known.version()) {
                    return parent(arrival).thenApply(there -> Optional.of(known.epoch()));
                }
                return attempt < ATTEMPTS
                        ? announce(arrival, mail, session, attempt + 1)
                        : CompletableFuture.failedFuture(ZooKeeperSessions.contended("the epoch of a session"));
            });
        });
    }

    /**
     * Reads the parent of an arrival that could not be created though its session met the condition. So it exists
     * already, unless its parent is missing, which is a failure.
     */
    private CompletableFuture<Node> parent(Arrival arrival) {
        String path = layout.arrivals(arrival.claim().resource());
        return requests.get(path, null).thenApply(node -> node.orElseThrow(() -> ZooKeeperFailures.missing(path)));
    }

    /** Reads the arrivals, and then the record: the requests arrive in this order. */
    CompletableFuture<Arrivals> read(ResourceName name) {
        CompletableFuture<Boolean> synced = requests.sync(layout.root());
        CompletableFuture<Optional<List<String>>> nodes = requests.children(layout.arrivals(name), null);
        CompletableFuture<RegisterRecord> record = records.readHere(name);
        return synced.thenCombine(nodes, (done, found) -> found.orElse(List.of()))
                .thenCombine(record, (found, present) -> new Arrivals(arrivals(name, found), present));
    }

    /** Sorts them in an order that favours no client, because ZooKeeper has none. */
    private static List<Arrival> arrivals(ResourceName name, List<String> nodes) {
        return nodes.stream()
                .sorted(Comparator.<String>comparingInt(node -> node.hashCode() * 0x9E3779B9)
                        .thenComparing(Comparator.naturalOrder()))
                .flatMap(node -> NodeLayout.arrival(name, node).stream())
                .toList();
    }

    /** Whether all of some arrivals at one resource still exist. */
    CompletableFuture<Boolean> areThere(List<Arrival> arrivals) {
        if (arrivals.isEmpty()) {
            return CompletableFuture.completedFuture(true);
        }
        String parent = layout.arrivals(arrivals.get(0).claim().resource());
        return requests.children(parent, null)
                .thenApply(found -> arrivals.stream()
                        .map(layout::arrival)
                        .allMatch(path -> found.orElse(List.of()).contains(path.substring(parent.length() + 1))));
    }

    CompletableFuture<Boolean> retract(Arrival arrival) {
        return requests.delete(layout.arrival(arrival));
    }
}
