package dev.holdfast.store.etcd.rpc;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import io.grpc.Status;
import io.netty.handler.ssl.NotSslRecordException;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Translates failed calls to {@link StoreException}s. */
public final class EtcdFailures {

    /** The exact messages of a server that rejects a request before it proposes anything to the other members. */
    private static final Set<String> REJECTED_BEFORE_PROPOSAL = Set.of(
            "etcdserver: no leader",
            "etcdserver: too many requests",
            "etcdserver: not capable",
            "etcdserver: rpc not supported for learner");

    /** The library's messages when a connection ends before an answer; the second one with TLS. */
    private static final List<String> CLOSED_WITHOUT_ANSWER =
            List.of("Network closed for unknown reason", "Connection closed while performing TLS negotiation");

    /** The last one occurs if authentication was off when the client requested its token. */
    private static final List<String> STALE_TOKEN =
            List.of("invalid auth token", "auth: revision in header is old", "user name is empty");

    private static final List<String> WRONG_USER = List.of("authentication failed", "user name not found");

    /** Codes of a request that the server rejects before it does anything. */
    private static final Set<Status.Code> REFUSALS = Set.of(
            Status.Code.INVALID_ARGUMENT,
            Status.Code.NOT_FOUND,
            Status.Code.FAILED_PRECONDITION,
            Status.Code.OUT_OF_RANGE,
            Status.Code.UNIMPLEMENTED);

    private EtcdFailures() {}

    /** The store is closed. */
    public static StoreException closed(Effect effect) {
        return new StoreException(Reason.CLOSED, effect, "the connection to etcd was closed by this client", null);
    }

    /** The answer is not one of etcd. */
    static StoreException malformedAnswer(String server, RuntimeException why) {
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

    /** Whether the user lacks a permission. */
    public static boolean isForbidden(StoreException failure) {
        return failure.getCause() instanceof CallFailure refusal && refusal.code() == Status.Code.PERMISSION_DENIED;
    }

    /** Whether the server closed the connection without an answer, as happens if only one side uses TLS. */
    public static boolean isClosedWithoutAnswer(StoreException failure) {
        return failure.getCause() instanceof CallFailure known
                && (CLOSED_WITHOUT_ANSWER.contains(known.description()) || isReset(known));
    }

    /** How the end of a connection looks if the server had not read all that was sent. */
    private static boolean isReset(CallFailure failure) {
        for (Throwable t = failure.getCause(); t != null; t = t.getCause()) {
            if (t instanceof IOException && "Connection reset".equals(t.getMessage())) {
                return true;
            }
        }
        return false;
    }

    /** Whether the call had no effect because the token is no longer valid. */
    static boolean isTokenInvalid(CallFailure failure) {
        return STALE_TOKEN.stream().anyMatch(failure.fullDescription()::contains);
    }

    static boolean isAuthenticationOff(CallFailure failure) {
        return failure.fullDescription().contains("authentication is not enabled");
    }

    static boolean isLeaseMissing(Throwable failure) {
        return failure.getCause() instanceof CallFailure refusal
                && refusal.description().equals("etcdserver: requested lease not found");
    }

    static boolean isUnavailable(Throwable failure) {
        return failure instanceof StoreException known && known.reason() == Reason.UNAVAILABLE;
    }

    /** Whether another member or connection might answer. */
    static boolean isConnectionFailure(CallFailure failure) {
        return failure.code() == Status.Code.UNAVAILABLE
                || failure.code() == Status.Code.DEADLINE_EXCEEDED
                || failure.code() == Status.Code.INTERNAL
                || failure.code() == Status.Code.UNKNOWN;
    }

    static StoreException of(CallFailure failure, String server) {
        String fullDescription = failure.fullDescription();
        if (fullDescription.contains("database space exceeded")) {
            return new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    server + " has exceeded its space quota; compact and defragment it, then disarm the alarm",
                    failure);
        } else if (failure.code() == Status.Code.PERMISSION_DENIED) {
            return new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    server + " denies this user a permission that locks need (" + fullDescription
                            + "); docs/stores/etcd.md lists the permissions",
                    failure);
        } else if (isTokenInvalid(failure) || WRONG_USER.stream().anyMatch(fullDescription::contains)) {
            return new StoreException(
                    Reason.DENIED, Effect.NONE, server + " rejects the user name or password", failure);
        }
        Throwable tlsProblem = tlsProblem(failure);
        if (tlsProblem != null) {
            return new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    "no TLS connection to " + server + " could be established: "
                            + (tlsProblem instanceof NotSslRecordException
                                    ? "the server does not use TLS"
                                    : fullDescription),
                    failure);
        }
        boolean hadNoEffect = !failure.wasSent()
                || REFUSALS.contains(failure.code())
                || REJECTED_BEFORE_PROPOSAL.contains(failure.description());
        return new StoreException(
                Reason.UNAVAILABLE,
                hadNoEffect ? Effect.NONE : Effect.UNKNOWN,
                (failure.wasSent() ? server + " did not answer as expected: " : server + " can't be reached: ")
                        + fullDescription,
                failure);
    }

    /** The failed TLS handshake because of which nothing was sent; null for other failures. */
    private static @Nullable Throwable tlsProblem(CallFailure failure) {
        for (Throwable t = failure.wasSent() ? null : failure.getCause(); t != null; t = t.getCause()) {
            if (t instanceof SSLException) {
                return t;
            }
        }
        return null;
    }
}
