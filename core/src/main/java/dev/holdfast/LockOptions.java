package dev.holdfast;

/**
 * The declaration of a lock, apart from its name. Every program that uses the name must declare the same. Immutable.
 */
public final class LockOptions {

    private static final LockOptions FAIR = new LockOptions(false);
    private static final LockOptions BARGING = new LockOptions(true);

    private final boolean isBarging;

    private LockOptions(boolean isBarging) {
        this.isBarging = isBarging;
    }

    /** First in, first out between processes; the default. */
    public static LockOptions fair() {
        return FAIR;
    }

    /** A claim for a free lock may be granted before queued ones: more throughput, but no guaranteed order. */
    public static LockOptions barging() {
        return BARGING;
    }

    /** Whether claims may be granted before queued ones. */
    public boolean isBarging() {
        return isBarging;
    }

    @Override
    public String toString() {
        return isBarging ? "barging" : "fair";
    }
}
