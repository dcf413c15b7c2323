package dev.holdfast.spring.execution;

import dev.holdfast.spring.LossReaction;
import dev.holdfast.spring.SurroundingTransaction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Keeps locks to the end of the transaction that the calling thread has begun before it took them. */
final class TransactionBinding implements TransactionSynchronization {

    private static final Logger LOG = LoggerFactory.getLogger(TransactionBinding.class);

    private final LockRequest request;
    private final HeldLocks held;

    private TransactionBinding(LockRequest request, HeldLocks held) {
        this.request = request;
        this.held = held;
    }

    /** Refuses a transaction that the settings don't allow. */
    static void check(LockRequest request) {
        if (request.settings().surroundingTransaction() == SurroundingTransaction.REFUSE && isActive()) {
            throw new IllegalStateException("The lock " + String.join(", ", request.names()) + " of " + request.work()
                    + " would be taken inside a transaction that has begun before, and released before that commits."
                    + " Call it outside of the transaction, or set surroundingTransaction to HOLD.");
        }
    }

    /** Hands locks over to the transaction of the calling thread, if there is one and the settings say so. */
    static boolean bind(LockRequest request, HeldLocks held) {
        if (request.settings().surroundingTransaction() != SurroundingTransaction.HOLD || !isActive()) {
            return false;
        }
        TransactionSynchronizationManager.registerSynchronization(new TransactionBinding(request, held));
        return true;
    }

    private static boolean isActive() {
        return TransactionSynchronizationManager.isSynchronizationActive()
                && TransactionSynchronizationManager.isActualTransactionActive();
    }

    @Override
    public void beforeCommit(boolean readOnly) {
        if (request.settings().onLoss() != LossReaction.EVENT) {
            held.ensureHeld();
        }
    }

    @Override
    public void afterCompletion(int status) {
        try {
            held.close();
        } catch (RuntimeException e) {
            // The outcome of the transaction stands; a loss that was known before the commit has rolled it back.
            LOG.warn("resource={} {}", request.names(), e.getMessage());
        }
    }
}
