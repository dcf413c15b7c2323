package dev.holdfast.store.etcd;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.etcd.rpc.KeyValue;
import dev.holdfast.store.etcd.rpc.Transaction;
import dev.holdfast.store.etcd.rpc.Transaction.Branch;
import dev.holdfast.store.etcd.rpc.TxnResponse;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.IndexChange;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.register.WriteResult;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A conditional write as one transaction. If a comparison fails, it reads all compared keys instead, so that the answer
 * shows which comparisons failed without another request.
 */
final class WriteTransaction {

    /** The version that a creation expects. */
    static final RecordVersion MISSING = new RecordVersion(0, 0);

    private final KeyLayout keys;
    private final ConditionalWrite write;

    /** The sessions that must live, in the order in which they are read. */
    private final List<SessionId> sessions;

    WriteTransaction(KeyLayout keys, ConditionalWrite write) {
        this.keys = keys;
        this.write = write;
        this.sessions = List.copyOf(write.sessions());
    }

    Transaction request() {
        Transaction transaction = new Transaction();
        compare(transaction);
        byte[] record = keys.record(write.resource());
        write.state().ifPresentOrElse(state -> transaction.put(record, state, 0), () -> transaction.delete(record));
        write.mail()
                .forEach((session, mail) -> transaction.put(
                        keys.mailbox(session), MailValue.encoded(incarnation(), mail), KeyLayout.leaseOf(session)));
        write.index().forEach(change -> change(transaction, change));
        write.arrivals().forEach(arrival -> transaction.delete(keys.arrival(arrival.claim())));
        transaction.get(Branch.ELSE, record);
        sessions.forEach(session -> transaction.get(Branch.ELSE, keys.session(session)));
        return transaction;
    }

    private void compare(Transaction transaction) {
        byte[] record = keys.record(write.resource());
        if (isCreation()) {
            transaction.createdBy(record, 0);
        } else {
            transaction.changedBy(record, write.expected().change());
        }
        write.arrivals().forEach(arrival -> transaction.exists(keys.arrival(arrival.claim())));
        for (SessionId session : sessions) {
            Long epoch = write.writers().get(session);
            if (epoch == null) {
                transaction.exists(keys.session(session));
            } else {
                // As bytes, the number after the highest one is not negative, but higher still.
                transaction.valueBefore(keys.session(session), SessionValue.ofEpochBelow(epoch + 1));
            }
        }
    }

    private void change(Transaction transaction, IndexChange change) {
        byte[] key = keys.claim(change.claim());
        long lease = KeyLayout.leaseOf(change.claim().session());
        switch (change.kind().after()) {
            case WAITING -> transaction.put(key, KeyLayout.claimValue(false), lease);
            case HELD -> transaction.put(key, KeyLayout.claimValue(true), lease);
            case NONE -> transaction.delete(key);
        }
    }

    private boolean isCreation() {
        return write.expected().equals(MISSING);
    }

    WriteResult result(TxnResponse answer) {
        return answer.succeeded()
                ? new WriteResult.Written(written(answer.header().revision()))
                : failed(answer);
    }

    private RecordVersion written(long revision) {
        return MailValue.version(incarnation(), revision);
    }

    private long incarnation() {
        if (write.state().isEmpty()) {
            return MailValue.DELETED;
        }
        return isCreation() ? MailValue.MADE_WITH_IT : write.expected().incarnation();
    }

    private WriteResult failed(TxnResponse answer) {
        Set<SessionId> gone = new HashSet<>();
        Map<SessionId, Long> raised = new HashMap<>();
        for (int i = 0; i < sessions.size(); i++) {
            SessionId session = sessions.get(i);
            Optional<KeyValue> found = answer.ranges().get(i + 1).only();
            if (found.isEmpty()) {
                gone.add(session);
                continue;
            }
            SessionRecord present = SessionValue.decoded(found.get().value());
            Long epoch = write.writers().get(session);
            if (epoch != null && present.epoch() > epoch) {
                raised.put(session, present.epoch());
            }
        }
        return new WriteResult.Refused(record(answer.ranges().get(0).only()), gone, raised);
    }

    static RegisterRecord record(Optional<KeyValue> found) {
        return found.map(key -> new RegisterRecord(
                        Optional.of(key.value()), new RecordVersion(key.createRevision(), key.modRevision()), 0))
                .orElseGet(() -> new RegisterRecord(Optional.empty(), MISSING, 0));
    }
}
