package dev.holdfast.sql.rows;

import dev.holdfast.HoldfastException;

/**
 * A guard has seen a greater fencing token, or the same one from another hold: the holder of this one has outlived its
 * lease. Roll the transaction back, and stop writing under this hold.
 */
public final class StaleTokenException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    private final long token;
    private final long newest;

    StaleTokenException(String resource, String database, long token, String hold, long newest, String newestHold) {
        super(
                "A write to '" + resource + "' with token " + token + " (hold " + hold + ") is rejected: "
                        + (token == newest
                                ? "hold " + newestHold + " has used the same token"
                                : "token " + newest + " was used before (hold " + newestHold + ")")
                        + " (" + database + "). Roll back, and stop writing under this hold.",
                resource,
                database,
                null);
        this.token = token;
        this.newest = newest;
    }

    /** The token that was refused. */
    public long token() {
        return token;
    }

    /** The greatest token that was shown before. */
    public long newest() {
        return newest;
    }
}
