package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.IndexChange;
import dev.holdfast.store.register.IndexChange.State;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.WriteResult;
import dev.holdfast.store.zookeeper.client.Node;
import dev.holdfast.store.zookeeper.client.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;

/**
 * One conditional write as one {@code multi}.
 *
 * <p>ZooKeeper reports only the first operation that failed. So after a refusal the nodes of all conditions are read,
 * on the same connection and therefore no older than the refusal. A condition that has failed keeps failing, so it is
 * found. If none is, this client had a wrong version of a session's node, and now knows the right one.
 *
 * <p><b>Thread-safety:</b> for one thread at a time; steps follow each other.
 */
final class WriteTransaction {

    private static final int ATTEMPTS = 5;

    /** Close to the largest version: a node is replaced before that, because version -1 would match any. */
    static final int LAST_CHANGE = Integer.MAX_VALUE - 1;

    /** An upper bound of the size of an operation without its path and its data. */
    private static final int OVERHEAD = 64;

    /** Up to this many sessions are read together with the record when a condition has failed. */
    private static final int FEW_SESSIONS = 4;

    private static final byte[] NOTHING = {};

    private final NodeLayout layout;
    private final Requests requests;
    private final Records records;
    private final ArrivalNodes arrivals;
    private final ZooKeeperSessions sessions;
    private final PacketLimit limit;
    private final ConditionalWrite write;

    /** The sessions that must be alive. */
    private final Set<SessionId> involved;

    /** The versions of the nodes of the writers. */
    private final Map<SessionId, Integer> epochs = new HashMap<>();

    /** The true states of index entries of living sessions, if somebody has changed them by hand. */
    private Map<ClaimRef, State> entries = Map.of();

    /** Whether the guard node of the record is missing, which distinguishes it from a later record of its name. */
    private boolean isGuardGone;

    /** The version of the record after the write. */
    private RecordVersion after;

    private int size;

    WriteTransaction(
            NodeLayout layout,
            Requests requests,
            Records records,
            ArrivalNodes arrivals,
            ZooKeeperSessions sessions,
            PacketLimit limit,
            ConditionalWrite write) {
        this.layout = layout;
        this.requests = requests;
        this.records = records;
        this.arrivals = arrivals;
        this.sessions = sessions;
        this.limit = limit;
        this.write = write;
        this.after = write.expected();
        this.involved = write.sessions();
    }

    /** Runs it, and blocks this thread for at most this long meanwhile if the handle allows that. */
    CompletableFuture<WriteResult> run(Duration mayBlockFor) {
        boolean isFloorKnown = records.knownFloor(write.resource()).isPresent();
        // Missing facts are read as after a refusal, which also shows whether the write would be refused.
        return areEpochsKnown() && (isFloorKnown || !replacesFloor()) ? attempt(1, mayBlockFor) : diagnose(1);
    }

    /** Whether the versions of the nodes of all writers are known or can be guessed, and none has a higher epoch. */
    private boolean areEpochsKnown() {
        for (Map.Entry<SessionId, Long> writer : write.writers().entrySet()) {
            Optional<OwnSession.Epoch> known = sessions.likelyEpoch(writer.getKey());
            if (known.isEmpty() || known.get().epoch() > writer.getValue()) {
                return false;
            }
            epochs.put(writer.getKey(), known.get().version());
        }
        return true;
    }

    private CompletableFuture<WriteResult> attempt(int number, Duration mayBlockFor) {
        size = 0;
        List<Op> operations = new ArrayList<>();
        addSessions(operations);
        Optional<Records.Floor> floor = addRecord(operations);
        addMail(operations);
        addIndex(operations);
        addArrivals(operations);
        Optional<StoreException> refusal = limit.refusal(size);
        if (refusal.isPresent()) {
            return CompletableFuture.failedFuture(refusal.get());
        }
        return send(operations, mayBlockFor).thenCompose(done -> {
            if (done.isPresent()) {
                floor.ifPresent(raised -> records.seen(write.resource(), raised));
                return CompletableFuture.completedFuture(new WriteResult.Written(after));
            }
            if (number == ATTEMPTS) {
                return CompletableFuture.failedFuture(
                        ZooKeeperSessions.contended("a record that a write compares with"));
            }
            return diagnose(number + 1);
        });
    }

    private CompletableFuture<Optional<List<OpResult>>> send(List<Op> operations, Duration mayBlockFor) {
        int sent = size;
        long sentAt = limit.now();
        return requests.multi(operations, mayBlockFor).whenComplete((done, failure) -> {
            if (failure == null) {
                limit.acknowledged(sent);
            } else {
                limit.failed(sent, sentAt, failure);
            }
        });
    }

    // The operations.

    private void addSessions(List<Op> operations) {
        for (SessionId id : involved) {
            operations.add(Op.check(sized(layout.session(id)), epochs.getOrDefault(id, -1)));
        }
    }

    private void addMail(List<Op> operations) {
        for (Op operation : MailOperations.of(layout, requests.acl(), after, write.mail())) {
            size += MailOperations.size(operation) + OVERHEAD;
            operations.add(operation);
        }
    }

    private void addIndex(List<Op> operations) {
        for (IndexChange change : write.index()) {
            State before = entries.getOrDefault(change.claim(), change.kind().before());
            State after = change.kind().after();
            if (before == after) {
                continue; // somebody has changed it by hand
            }
            if (before != State.NONE) {
                operations.add(Op.delete(sized(layout.entry(change.claim(), before)), -1));
            }
            if (after != State.NONE) {
                String path = sized(layout.entry(change.claim(), after));
                operations.add(Op.create(path, NOTHING, requests.acl(), CreateMode.PERSISTENT));
            }
        }
    }

    /** Adds the size of a path to that of the write, and returns the path. */
    private String sized(String path) {
        size += path.length() + OVERHEAD;
        return path;
    }

    private void addArrivals(List<Op> operations) {
        for (Arrival arrival : write.arrivals()) {
            String path = layout.arrival(arrival);
            size += path.length() + OVERHEAD;
            operations.add(Op.delete(path, -1));
        }
    }

    /** Adds the change of the record; returns the floor of its shard after a deletion, otherwise empty. */
    private Optional<Records.Floor> addRecord(List<Op> operations) {
        RecordVersion before = write.expected();
        if (before.change() == Records.MISSING) {
            int deletions = Records.deletions(before.incarnation());
            operations.add(Op.check(sized(layout.shard(write.resource())), deletions));
            create(operations, deletions);
            return Optional.empty();
        }
        String path = sized(layout.record(write.resource()));
        String guard = sized(NodeLayout.guard(path, before.incarnation()));
        int change = Math.toIntExact(before.change());
        if (!replacesFloor()) {
            operations.add(
                    isGuardGone
                            ? Op.create(guard, NOTHING, requests.acl(), CreateMode.PERSISTENT)
                            : Op.check(guard, -1));
            byte[] data = NodeData.record(before.incarnation(), write.state().orElseThrow());
            size += data.length;
            operations.add(Op.setData(path, data, change));
            after = new RecordVersion(before.incarnation(), before.change() + 1);
            return Optional.empty();
        }
        Records.Floor present = records.knownFloor(write.resource())
                .orElseThrow(() -> new IllegalStateException("A floor must be read before it is replaced"));
        Records.Floor raised = new Records.Floor(present.version() + 1, Math.max(present.token(), write.floor()));
        String shard = sized(layout.shard(write.resource()));
        operations.add(Op.setData(shard, NodeData.floor(raised.token()), present.version()));
        if (!isGuardGone) {
            operations.add(Op.delete(guard, -1));
        }
        operations.add(Op.delete(path, change));
        create(operations, raised.version());
        return Optional.of(raised);
    }

    /** Creates the record, if the write has one, in a shard with a number of deletions. */
    private void create(List<Op> operations, int deletions) {
        after = Records.missing(deletions);
        write.state().ifPresent(state -> {
            long incarnation = Records.incarnation(deletions);
            byte[] data = NodeData.record(incarnation, state);
            size += data.length;
            String path = sized(layout.record(write.resource()));
            String guard = sized(NodeLayout.guard(path, incarnation));
            operations.add(Op.create(path, data, requests.acl(), CreateMode.PERSISTENT));
            operations.add(Op.create(guard, NOTHING, requests.acl(), CreateMode.PERSISTENT));
            after = new RecordVersion(incarnation, 0);
        });
    }

    /** Whether the node of the record is deleted, for good or to be replaced because of its large version. */
    private boolean replacesFloor() {
        long change = write.expected().change();
        return change >= 0 && (write.state().isEmpty() || change >= LAST_CHANGE);
    }

    // The diagnosis of a refusal.

    private CompletableFuture<WriteResult> diagnose(int attempt) {
        CompletableFuture<RegisterRecord> record = records.readHere(write.resource());
        if (involved.size() <= FEW_SESSIONS) {
            return diagnose(attempt, record, readSessions());
        }
        // If the record has changed, the next write is for other sessions, so reading hundreds of them is of no use.
        return record.thenCompose(present -> isExpected(present)
                ? diagnose(attempt, record, readSessions())
                : CompletableFuture.completedFuture(new WriteResult.Refused(present, Set.of(), Map.of())));
    }

    private CompletableFuture<WriteResult> diagnose(
            int attempt,
            CompletableFuture<RegisterRecord> record,
            CompletableFuture<Map<SessionId, Optional<ZooKeeperSessions.Versioned>>> found) {
        return found.thenCombine(record, this::refused).thenCompose(refused -> {
            if (!refused.isConflict() || !isExpected(refused.present())) {
                return CompletableFuture.completedFuture(refused);
            }
            return arrivals.areThere(write.arrivals())
                    .thenCompose(areThere -> areThere
                            ? readMeddledWith().thenCompose(done -> attempt(attempt, Duration.ZERO))
                            : CompletableFuture.completedFuture(refused));
        });
    }

    private boolean isExpected(RegisterRecord present) {
        return present.version().equals(write.expected());
    }

    private CompletableFuture<Map<SessionId, Optional<ZooKeeperSessions.Versioned>>> readSessions() {
        Map<SessionId, CompletableFuture<Optional<ZooKeeperSessions.Versioned>>> reads = new LinkedHashMap<>();
        involved.forEach(id -> reads.put(id, sessions.readVersion(id)));
        return CompletableFuture.allOf(reads.values().toArray(CompletableFuture[]::new))
                .thenApply(all -> {
                    Map<SessionId, Optional<ZooKeeperSessions.Versioned>> found = new LinkedHashMap<>();
                    reads.forEach((id, read) -> found.put(id, read.join()));
                    return found;
                });
    }

    /** Notes the versions of the nodes of the writers that meet their conditions. */
    private WriteResult.Refused refused(
            Map<SessionId, Optional<ZooKeeperSessions.Versioned>> found, RegisterRecord present) {
        Set<SessionId> gone = new HashSet<>();
        Map<SessionId, Long> raised = new HashMap<>();
        found.forEach((id, session) -> {
            Long epoch = write.writers().get(id);
            if (session.isEmpty()) {
                gone.add(id);
            } else if (epoch != null && session.get().session().epoch() > epoch) {
                raised.put(id, session.get().session().epoch());
            } else if (epoch != null) {
                epochs.put(id, session.get().version());
            }
        });
        return new WriteResult.Refused(present, gone, raised);
    }

    /** Reads which nodes without a condition exist, because somebody may have deleted them by hand. */
    private CompletableFuture<Boolean> readMeddledWith() {
        Map<ClaimRef, CompletableFuture<State>> reads = new LinkedHashMap<>();
        write.index().forEach(change -> reads.put(change.claim(), readEntry(change.claim())));
        String record = layout.record(write.resource());
        CompletableFuture<Optional<Node>> guard =
                requests.get(NodeLayout.guard(record, write.expected().incarnation()), null);
        return CompletableFuture.allOf(reads.values().toArray(CompletableFuture[]::new))
                .thenCombine(guard, (all, found) -> {
                    Map<ClaimRef, State> states = new HashMap<>();
                    reads.forEach((claim, read) -> states.put(claim, read.join()));
                    entries = states;
                    isGuardGone = found.isEmpty();
                    return true;
                });
    }

    private CompletableFuture<State> readEntry(ClaimRef claim) {
        return requests.get(layout.entry(claim, State.HELD), null)
                .thenCombine(
                        requests.get(layout.entry(claim, State.WAITING), null),
                        (holding, waiting) ->
                                holding.isPresent() ? State.HELD : waiting.isPresent() ? State.WAITING : State.NONE);
    }
}
