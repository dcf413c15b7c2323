package dev.holdfast.store.zookeeper.client;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import org.apache.zookeeper.KeeperException;

/** Translates ZooKeeper's codes to {@link StoreException}s. */
public final class ZooKeeperFailures {

    private ZooKeeperFailures() {}

    /** The failure of a request that was given to the client. */
    public static StoreException of(KeeperException.Code code) {
        KeeperException cause = KeeperException.create(code);
        return switch (code) {
            case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT ->
                new StoreException(
                        Reason.UNAVAILABLE, Effect.UNKNOWN, "the connection broke before ZooKeeper answered", cause);
            // A handle whose session expired sends nothing, and a server rejects a session that has moved.
            case SESSIONEXPIRED, SESSIONMOVED, SESSIONCLOSEDREQUIRESASLAUTH ->
                new StoreException(
                        Reason.UNAVAILABLE, Effect.NONE, "the session at ZooKeeper has ended: " + code, cause);
            case NOTREADONLY, THROTTLEDOP, NEWCONFIGNOQUORUM, RECONFIGINPROGRESS ->
                new StoreException(
                        Reason.UNAVAILABLE,
                        Effect.NONE,
                        "ZooKeeper does not serve this request at present: " + code,
                        cause);
            case AUTHFAILED -> denied("ZooKeeper rejects the credentials of this client", cause);
            case NOAUTH ->
                denied(
                        "ZooKeeper grants this client no access to the nodes of the locks:"
                                + " it needs read, write, create and delete on the root and all below it",
                        cause);
            case QUOTAEXCEEDED -> denied("the quota of the root node is exceeded", cause);
            case INVALIDACL ->
                denied(
                        "acl=creator needs an authenticated user, and this client has none: set a "
                                + "user and a password, or a client certificate",
                        cause);
            case BADARGUMENTS, UNIMPLEMENTED, MARSHALLINGERROR, NOCHILDRENFOREPHEMERALS ->
                denied("ZooKeeper rejects the request: " + code, cause);
            default -> new StoreException(Reason.UNAVAILABLE, Effect.UNKNOWN, "ZooKeeper answered " + code, cause);
        };
    }

    /** The failure of a stage: what it or one of its causes says, if that is one of the store's. */
    public static StoreException of(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null && !(cause instanceof StoreException)) {
            cause = cause.getCause();
        }
        return cause instanceof StoreException known
                ? known
                : new StoreException(Reason.UNAVAILABLE, Effect.UNKNOWN, String.valueOf(cause.getMessage()), cause);
    }

    /** A permanent node is missing. */
    public static StoreException missing(String path) {
        return new StoreException(
                Reason.CORRUPT,
                Effect.NONE,
                "the node '" + path
                        + "', which the store created when it was first opened, is missing; close the store "
                        + "and open it again to recreate the node",
                null);
    }

    private static StoreException denied(String text, KeeperException cause) {
        return new StoreException(Reason.DENIED, Effect.NONE, text, cause);
    }
}
