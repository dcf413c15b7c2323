package dev.holdfast.store.zookeeper.client;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import org.apache.zookeeper.KeeperException;

/** What the codes of ZooKeeper mean for who asked. */
public final class Failures {

    private Failures() {}

    /** Says what a request failed of that was given to the client. */
    public static StoreException of(KeeperException.Code code) {
        KeeperException cause = KeeperException.create(code);
        return switch (code) {
            case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT ->
                new StoreException(
                        Reason.UNAVAILABLE, Effect.UNKNOWN, "the connection broke before ZooKeeper answered", cause);
            // A handle of an expired session sends nothing, and a server refuses a session that moved on.
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

    /** Says that what should be there for good is not. */
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
