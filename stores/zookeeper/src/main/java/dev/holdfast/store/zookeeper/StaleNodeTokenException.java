package dev.holdfast.store.zookeeper;

import dev.holdfast.HoldfastException;

/**
 * A fence has seen a greater fencing token, or the same one from another hold: the holder has outlived its lease. Write
 * no more under this hold.
 */
public final class StaleNodeTokenException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    private final long token;
    private final long newest;

    StaleNodeTokenException(String path, long token, String hold, long newest, String newestHold) {
        super(
                "A write guarded by the node '" + path + "' with token " + token + " (hold " + hold + ") is rejected: "
                        + (token == newest
                                ? "hold " + newestHold + " has used the same token"
                                : "token " + newest + " was used before (hold " + newestHold + ")")
                        + ". Stop writing under this hold.",
                path,
                "ZooKeeper",
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
