package dev.holdfast.spring.execution;

import dev.holdfast.AcquireOptions;
import dev.holdfast.LockOptions;
import dev.holdfast.spring.LockMode;
import dev.holdfast.spring.LossReaction;
import dev.holdfast.spring.SurroundingTransaction;

/**
 * How work is locked: everything but the names.
 *
 * @param permits the permits to take, with {@link LockMode#PERMITS}
 * @param capacity the permits that there are, with {@link LockMode#PERMITS}
 */
public record LockSettings(
        LockMode mode,
        int permits,
        int capacity,
        LockOptions order,
        AcquireOptions acquire,
        LossReaction onLoss,
        SurroundingTransaction surroundingTransaction) {

    public LockSettings withMode(LockMode other) {
        return new LockSettings(other, permits, capacity, order, acquire, onLoss, surroundingTransaction);
    }

    public LockSettings withPermits(int taken, int total) {
        return new LockSettings(LockMode.PERMITS, taken, total, order, acquire, onLoss, surroundingTransaction);
    }

    public LockSettings withOrder(LockOptions other) {
        return new LockSettings(mode, permits, capacity, other, acquire, onLoss, surroundingTransaction);
    }

    public LockSettings withAcquire(AcquireOptions other) {
        return new LockSettings(mode, permits, capacity, order, other, onLoss, surroundingTransaction);
    }

    public LockSettings withOnLoss(LossReaction other) {
        return new LockSettings(mode, permits, capacity, order, acquire, other, surroundingTransaction);
    }

    public LockSettings withSurroundingTransaction(SurroundingTransaction other) {
        return new LockSettings(mode, permits, capacity, order, acquire, onLoss, other);
    }
}
