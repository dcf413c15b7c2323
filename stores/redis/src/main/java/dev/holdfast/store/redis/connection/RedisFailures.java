package dev.holdfast.store.redis.connection;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.Stages;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Translates failures of a server or its connection into what they mean for a command. */
public final class RedisFailures {

    private RedisFailures() {}

    /** Whether the server doesn't know the script, because it never saw it or was restarted; it did nothing. */
    public static boolean isScriptMissing(Throwable failure) {
        return Stages.causeOf(failure) instanceof RedisCommandExecutionException refusal
                && String.valueOf(refusal.getMessage()).startsWith("NOSCRIPT");
    }

    /** Whether the server is no longer the primary; reconnecting finds the new one. */
    public static boolean isFromReplica(StoreException failure) {
        return hasAny(String.valueOf(failure.getMessage()), "READONLY");
    }

    /** The failure of a request in flight. */
    public static StoreException ofRequest(Throwable failure, String server) {
        Throwable cause = Stages.causeOf(failure);
        if (cause instanceof StoreException known) {
            return known;
        }
        return cause instanceof RedisCommandExecutionException refusal
                ? classify(String.valueOf(refusal.getMessage()), Effect.NONE, server, refusal)
                : new StoreException(
                        Reason.UNAVAILABLE,
                        Effect.UNKNOWN,
                        server + " did not answer, or the connection broke: " + cause.getMessage(),
                        cause);
    }

    /** The failure of a command before it was sent. */
    public static StoreException unsent(Throwable failure) {
        return unavailable("the command could not be sent: " + failure, failure);
    }

    /** The failure of one command in the script. */
    public static StoreException ofCommand(String words, boolean hadEffect, String server) {
        return classify(words, hadEffect ? Effect.UNKNOWN : Effect.NONE, server, null);
    }

    /** The failure of opening. */
    public static StoreException ofOpening(Throwable failure, String server) {
        Throwable cause = Stages.causeOf(failure);
        for (Throwable t = cause; t != null; t = t.getCause()) {
            if (t instanceof StoreException known) {
                return known;
            } else if (t instanceof LinkageError mismatch) {
                return DriverVersion.unfit(mismatch);
            } else if (t instanceof RedisCommandExecutionException refusal) {
                return classify(String.valueOf(refusal.getMessage()), Effect.NONE, server, cause);
            }
        }
        Throwable innermost = innermost(cause);
        // A time-out of the future has no message.
        String why = innermost instanceof TimeoutException && innermost.getMessage() == null
                ? "it did not answer in time"
                : String.valueOf(innermost.getMessage());
        return unavailable(server + " can't be reached: " + why, cause);
    }

    /**
     * Waits for a step of opening; throws its failure, as that of opening, also if it takes too long or is interrupted.
     */
    @CanIgnoreReturnValue
    public static <T> T awaitOpening(CompletionStage<T> step, Duration timeout, String server) {
        try {
            return step.toCompletableFuture().get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw ofOpening(e, server);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw ofOpening(e, server);
        }
    }

    /** Whether the server itself answered, if only with an error. */
    public static boolean isFromServer(Throwable failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (t instanceof RedisCommandExecutionException) {
                return true;
            }
        }
        return false;
    }

    /** Whether the driver has made the connection but doesn't accept commands yet. */
    static boolean isNotYetActive(Throwable failure) {
        return Stages.causeOf(failure) instanceof RedisException refusal
                && String.valueOf(refusal.getMessage()).startsWith("Currently not connected");
    }

    /**
     * Whether the failure has no reason given by the server: an internal error of the driver while connecting, or the
     * connection ended before the driver read the answer to its greeting.
     */
    static boolean isWithoutReason(Throwable failure) {
        Throwable innermost = innermost(failure);
        return innermost instanceof IllegalStateException
                || "Connection closed prematurely".equals(innermost.getMessage());
    }

    /** The failure that there is no connection, with its reason if known. */
    public static StoreException notConnected(String server, @Nullable Throwable why) {
        String reason = why == null ? "" : ": " + innermost(why).getMessage();
        return unavailable("there is no connection to " + server + " at present" + reason, why);
    }

    public static StoreException timedOut(String server) {
        return new StoreException(Reason.UNAVAILABLE, Effect.UNKNOWN, server + " did not answer in time", null);
    }

    public static StoreException nonsense(String server) {
        return new StoreException(
                Reason.CORRUPT, Effect.UNKNOWN, server + " returned a reply that Holdfast's script never gives", null);
    }

    public static StoreException closed(Effect effect) {
        return new StoreException(Reason.CLOSED, effect, "the connection to Redis was closed by this client", null);
    }

    /**
     * Classifies the server's error message. The server checks memory, disk, role and permissions before the first
     * write of a script, so a script rejected for one of these had no effect.
     */
    private static StoreException classify(String words, Effect effect, String server, @Nullable Throwable cause) {
        if (hasAny(words, "HFCORRUPT", "WRONGTYPE")) {
            return new StoreException(
                    Reason.CORRUPT,
                    effect,
                    "the lock data at " + server + " was not written by Holdfast or is damaged; it was left unchanged ("
                            + words + "). See docs/operations.md for what to do",
                    cause);
        } else if (hasAny(words, "NOPERM", "no permissions", "can't run this command")) {
            return new StoreException(
                    Reason.DENIED,
                    effect,
                    server + " denies this user a permission that locks need (" + words
                            + "); docs/stores/redis.md lists the permissions",
                    cause);
        } else if (hasAny(words, "WRONGPASS", "NOAUTH", "invalid password", "invalid username-password")) {
            return denied(server + " rejects the user name or password", cause);
        } else if (hasAny(words, "DB index")) {
            String hint = "): by default the numbers are 0 to 15; 'databases' in the server's configuration sets "
                    + "how many";
            return denied(server + " has no database with this number (" + words + hint, cause);
        } else if (hasAny(words, "OOM ")) {
            return denied(server + " has reached its maxmemory; give it more memory", cause);
        } else if (hasAny(words, "MISCONF", "NOREPLICAS")) {
            return denied(server + " accepts no writes at present: " + words, cause);
        } else if (isRedirection(words)) {
            return unavailable(server + " does not serve this key at present: " + words, cause);
        } else if (hasAny(words, "HFREPAIR")) {
            return unavailable(server + " has lost a key, which is being recreated", cause);
        } else if (hasAny(words, "READONLY", "LOADING", "BUSY", "MASTERDOWN", "NOSCRIPT")) {
            return unavailable(server + " can't serve requests at present: " + words, cause);
        }
        return new StoreException(Reason.UNAVAILABLE, Effect.UNKNOWN, server + " failed: " + words, cause);
    }

    /** The failure of something that an operator must fix; it had no effect. */
    public static StoreException denied(String why, @Nullable Throwable cause) {
        return new StoreException(Reason.DENIED, Effect.NONE, why, cause);
    }

    /** The failure of something that may work later; it had no effect. */
    public static StoreException unavailable(String why, @Nullable Throwable cause) {
        return new StoreException(Reason.UNAVAILABLE, Effect.NONE, why, cause);
    }

    /** A cluster node checks whether it serves the slot before any effect. */
    private static boolean isRedirection(String words) {
        return words.startsWith("MOVED ")
                || words.startsWith("ASK ")
                || words.startsWith("TRYAGAIN")
                || words.startsWith("CLUSTERDOWN");
    }

    private static boolean hasAny(String words, String... codes) {
        return Arrays.stream(codes).anyMatch(words::contains);
    }

    private static Throwable innermost(Throwable failure) {
        Throwable innermost = failure;
        for (int depth = 0; innermost.getCause() != null && depth < 20; depth++) {
            innermost = innermost.getCause();
        }
        return innermost;
    }
}
