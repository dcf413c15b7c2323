package dev.holdfast.spring.execution;

import dev.holdfast.spring.LossReaction;
import dev.holdfast.spring.SurroundingTransaction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Keeps locks until the end of the transaction that the calling thread began before it acquired them. */
final class TransactionBinding implements TransactionSynchronization {

    private static final Logger LOG = LoggerFactory.getLogger(TransactionBinding.class);

    private final LockRequest request;
    private final HeldLocks locks;

    private TransactionBinding(LockRequest request, HeldLocks locks) {
        this.request = request;
        this.locks = locks;
    }

    /** Throws if the settings forbid the transaction of the calling thread. */
    static void check(LockRequest request) {
        if (request.settings().surroundingTransaction() == SurroundingTransaction.REFUSE && isActive()) {
            throw new IllegalStateException("The lock " + String.join(", ", request.names()) + " of " + request.work()
                    + " would be acquired inside a transaction that has already begun, and released "
                    + "before it commits. Call it outside the transaction, or set "
                    + "surroundingTransaction to HOLD.");
        }
    }

    /** Binds locks to the transaction of the calling thread, if there is one and the settings ask for it. */
    static boolean bind(LockRequest request, HeldLocks locks) {
        if (request.settings().surroundingTransaction() != SurroundingTransaction.HOLD || !isActive()) {
            return false;
        }
        TransactionSynchronizationManager.registerSynchronization(new TransactionBinding(request, locks));
        return true;
    }

    private static boolean isActive() {
        return TransactionSynchronizationManager.isSynchronizationActive()
                && TransactionSynchronizationManager.isActualTransactionActive();
    }

    @Override
    public void beforeCommit(boolean readOnly) {
        if (request.settings().onLoss() != LossReaction.EVENT) {
            locks.ensureHeld();
        }
    }

    @Override
    public void afterCompletion(int status) {
        try {
            locks.close();
        } catch (RuntimeException e) {
            // The transaction has its outcome; a loss known before the commit has rolled it back.
            LOG.warn("resource={} {}", request.names(), e.getMessage());
        }
    }
}
