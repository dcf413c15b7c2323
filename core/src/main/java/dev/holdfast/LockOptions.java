package dev.holdfast;

/**
 * What a lock is, beyond its name; every program that uses the name declares the same. Immutable.
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

    /** A claim may be granted past those that wait when the lock is free: more throughput, and no promise of order. */
    public static LockOptions barging() {
        return BARGING;
    }

    /** Whether claims may be granted past those that wait. */
    public boolean isBarging() {
        return isBarging;
    }

    @Override
    public String toString() {
        return isBarging ? "barging" : "fair";
    }
}
