package dev.holdfast.store.etcd.rpc;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import io.grpc.Status;
import io.netty.handler.ssl.NotSslRecordException;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** What the failures of calls mean. */
public final class Failures {

    /** What the server says, word by word, when it refuses a request before it proposes anything to the others. */
    private static final Set<String> REFUSED_AT_THE_DOOR = Set.of(
            "etcdserver: no leader",
            "etcdserver: too many requests",
            "etcdserver: not capable",
            "etcdserver: rpc not supported for learner");

    /** What the library says when a connection ends before an answer; the second where TLS was to be spoken. */
    private static final List<String> CLOSED_AT_ONCE =
            List.of("Network closed for unknown reason", "Connection closed while performing TLS negotiation");

    /** The last is said to who has no token, since the server knew no users when one was asked for. */
    private static final List<String> STALE_TOKEN =
            List.of("invalid auth token", "auth: revision in header is old", "user name is empty");

    private static final List<String> WRONG_USER = List.of("authentication failed", "user name not found");

    /** Codes by which the server refuses a request, before it does any of it. */
    private static final Set<Status.Code> REFUSALS = Set.of(
            Status.Code.INVALID_ARGUMENT,
            Status.Code.NOT_FOUND,
            Status.Code.FAILED_PRECONDITION,
            Status.Code.OUT_OF_RANGE,
            Status.Code.UNIMPLEMENTED);

    private Failures() {}

    /** After the end of the store. */
    public static StoreException closed(Effect effect) {
        return new StoreException(Reason.CLOSED, effect, "the connection to etcd was closed by this client", null);
    }

    /** The answer is none that etcd gives. */
    static StoreException nonsense(String server, RuntimeException why) {
        return new StoreException(
                Reason.CORRUPT, Effect.UNKNOWN, server + " sent a reply that is not a valid etcd message", why);
    }

    static StoreException replaced(String server, Effect effect) {
        return new StoreException(
                Reason.CORRUPT,
                effect,
                server + " is a different cluster than before, has lost its data, or was restored from a "
                        + "backup: its tokens may be lower than those already issued. Prepare the guarded "
                        + "resources, then open the store again; see docs/stores/etcd.md",
                null);
    }

    /** Whether the server knows the user, and does not permit this to it. */
    public static boolean isForbidden(StoreException failure) {
        return failure.getCause() instanceof CallFailure refusal && refusal.code() == Status.Code.PERMISSION_DENIED;
    }

    /** Whether the server closed the connection instead of an answer, as it does if only one side speaks TLS. */
    public static boolean isClosedAtOnce(StoreException failure) {
        return failure.getCause() instanceof CallFailure known && CLOSED_AT_ONCE.contains(known.description());
    }

    /** Whether the token of this user is not valid any more; nothing was done. */
    static boolean isOfToken(CallFailure failure) {
        return STALE_TOKEN.stream().anyMatch(failure.words()::contains);
    }

    static boolean isAuthenticationOff(CallFailure failure) {
        return failure.words().contains("authentication is not enabled");
    }

    static boolean isLeaseMissing(Throwable failure) {
        return failure.getCause() instanceof CallFailure refusal
                && refusal.description().equals("etcdserver: requested lease not found");
    }

    static boolean isUnavailable(Throwable failure) {
        return failure instanceof StoreException known && known.reason() == Reason.UNAVAILABLE;
    }

    /** Whether another member, or another connection, might do better. */
    static boolean isOfConnection(CallFailure failure) {
        return failure.code() == Status.Code.UNAVAILABLE
                || failure.code() == Status.Code.DEADLINE_EXCEEDED
                || failure.code() == Status.Code.INTERNAL
                || failure.code() == Status.Code.UNKNOWN;
    }

    static StoreException of(CallFailure failure, String server) {
        String words = failure.words();
        if (words.contains("database space exceeded")) {
            return new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    server + " has exceeded its space quota; compact and defragment it, then disarm the alarm",
                    failure);
        } else if (failure.code() == Status.Code.PERMISSION_DENIED) {
            return new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    server + " denies this user a permission that locks need (" + words
                            + "); docs/stores/etcd.md lists the permissions",
                    failure);
        } else if (isOfToken(failure) || WRONG_USER.stream().anyMatch(words::contains)) {
            return new StoreException(
                    Reason.DENIED, Effect.NONE, server + " rejects the user name or password", failure);
        }
        Throwable tlsProblem = tlsProblem(failure);
        if (tlsProblem != null) {
            return new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    "no TLS connection to " + server + " could be established: "
                            + (tlsProblem instanceof NotSslRecordException ? "the server does not use TLS" : words),
                    failure);
        }
        boolean hadNoEffect = !failure.wasSent()
                || REFUSALS.contains(failure.code())
                || REFUSED_AT_THE_DOOR.contains(failure.description());
        return new StoreException(
                Reason.UNAVAILABLE,
                hadNoEffect ? Effect.NONE : Effect.UNKNOWN,
                (failure.wasSent() ? server + " did not answer as expected: " : server + " can't be reached: ") + words,
                failure);
    }

    /** Something of TLS, if nothing was sent because of it. */
    private static @Nullable Throwable tlsProblem(CallFailure failure) {
        for (Throwable t = failure.wasSent() ? null : failure.getCause(); t != null; t = t.getCause()) {
            if (t instanceof SSLException) {
                return t;
            }
        }
        return null;
    }
}
