package dev.holdfast;

/**
 * A hold has ended without its owner's request. Stop writing: another may hold the lock, and writes with the lost token
 * may be stale.
 */
public final class LockLostException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    private final Loss loss;

    /** For the engine. */
    public LockLostException(Loss loss) {
        super(
                "Hold on '" + loss.name() + "' (token " + loss.token() + ", store " + loss.store() + ") was lost: "
                        + loss.cause().words() + ". Stop writing; writes with token " + loss.token()
                        + " may now be stale.",
                loss.name(),
                loss.store(),
                null);
        this.loss = loss;
    }

    /** What was lost, and why. */
    public Loss loss() {
        return loss;
    }
}
