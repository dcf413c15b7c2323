package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.table.ClaimRows;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Ends sessions in small transactions, however many claims they have. Not thread-safe. */
final class SessionTermination {

    /** The most resources that one transaction visits, which limits how long it keeps its locks. */
    private static final int PART = 64;

    private final LockTransactions transactions;

    /** Why the current termination has skipped resources; null if it has not. */
    private @Nullable RowsBusyException skipped;

    SessionTermination(LockTransactions transactions) {
        this.transactions = transactions;
    }

    /**
     * Ends a session with all its claims: first its row, so that it can claim nothing more, and then its claims, in
     * several transactions.
     *
     * @throws StoreException if that fails, or if other transactions keep rows of its claims locked; then all others
     *     were visited
     */
    void end(long id, List<LedgerTransaction.Notification> notifications) {
        skipped = null;
        transactions.carryOut(new LockTransactions.Task(state -> state.rows().end(id)), notifications);
        List<ResourceName> contended = new ArrayList<>();
        transactions.carryOut(
                new LockTransactions.Task(state -> contended.addAll(state.rows().contended(id))), notifications);
        for (int from = 0; from < contended.size(); from += PART) {
            List<ResourceName> part = contended.subList(from, Math.min(contended.size(), from + PART));
            visit(part, List.of(), notifications);
        }
        List<ClaimRows.Place> page = new ArrayList<>();
        long number = 0;
        byte[] key = ClaimRows.NO_KEY;
        do {
            page.clear();
            long after = number;
            byte[] afterKey = key;
            transactions.carryOut(
                    new LockTransactions.Task(
                            state -> page.addAll(state.claimRows().ofSession(id, after, afterKey, PART))),
                    notifications);
            if (!page.isEmpty()) {
                ClaimRows.Place last = page.get(page.size() - 1);
                number = last.claim().number;
                key = last.name().utf8();
                visit(
                        page.stream().map(ClaimRows.Place::name).toList(),
                        page.stream().map(place -> place.claim().ref()).toList(),
                        notifications);
            }
        } while (page.size() == PART);
        if (skipped != null) {
            throw skipped.failure();
        }
        transactions.carryOut(new LockTransactions.Task(state -> state.rows().forget(id)), notifications);
    }

    /** Reads resources and claims on them, which drops dead claims. */
    private void visit(
            List<ResourceName> names, List<ClaimRef> claims, List<LedgerTransaction.Notification> notifications) {
        List<ResourceName> left = new ArrayList<>(names);
        while (true) {
            List<ResourceName> present = List.copyOf(left);
            List<ClaimRef> theirs = claims.stream()
                    .filter(claim -> present.contains(claim.resource()))
                    .toList();
            try {
                attempt(present, theirs, notifications);
                return;
            } catch (RowsBusyException e) {
                if (!left.removeAll(e.names())) {
                    throw e.failure();
                }
                skipped = e;
            }
        }
    }

    private void attempt(
            List<ResourceName> names, List<ClaimRef> claims, List<LedgerTransaction.Notification> notifications)
            throws RowsBusyException {
        LockTransactions.Task task = new LockTransactions.Task(state -> {
            for (ResourceName name : names) {
                var unused = state.resource(name);
            }
            for (ClaimRef claim : claims) {
                var unused = state.claim(claim);
            }
            state.flush();
        });
        task.names.addAll(names);
        transactions.carryOutUnlessLocked(task, notifications, LockWait.BRIEF);
    }
}
