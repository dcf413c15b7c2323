package dev.holdfast.store.redis.connection;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.Stages;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Translation of failures of the server, or of the connection to it, into what they mean for a command. */
public final class RedisFailures {

    private RedisFailures() {}

    /** The server has not seen the script, or not since it was started: it did nothing. */
    public static boolean isScriptMissing(Throwable failure) {
        return Stages.causeOf(failure) instanceof RedisCommandExecutionException refusal && said(refusal, "NOSCRIPT");
    }

    /** The server is not the primary any more: whoever is now may be found by connecting again. */
    public static boolean isOfReplica(StoreException failure) {
        return has(String.valueOf(failure.getMessage()), "READONLY");
    }

    /** The failure of a trip that was under way. */
    public static StoreException ofTrip(Throwable failure, String server) {
        Throwable cause = Stages.causeOf(failure);
        if (cause instanceof StoreException known) {
            return known;
        }
        return cause instanceof RedisCommandExecutionException refusal
                ? said(String.valueOf(refusal.getMessage()), Effect.NONE, server, refusal)
                : new StoreException(
                        Reason.UNAVAILABLE,
                        Effect.UNKNOWN,
                        server + " did not answer, or the connection broke: " + cause.getMessage(),
                        cause);
    }

    /** What happened before a command was sent. */
    public static StoreException unsent(Throwable failure) {
        return new StoreException(
                Reason.UNAVAILABLE, Effect.NONE, "the command could not be sent: " + failure, failure);
    }

    /** The failure of one command inside the script. */
    public static StoreException ofStep(String words, boolean hadEffect, String server) {
        return said(words, hadEffect ? Effect.UNKNOWN : Effect.NONE, server, null);
    }

    /** The failure of the first connection. */
    public static StoreException ofOpening(Throwable failure, String server) {
        Throwable cause = Stages.causeOf(failure);
        for (Throwable t = cause; t != null; t = t.getCause()) {
            if (t instanceof StoreException known) {
                return known;
            } else if (t instanceof LinkageError mismatch) {
                return DriverVersion.unfit(mismatch);
            } else if (t instanceof RedisCommandExecutionException refusal) {
                return said(String.valueOf(refusal.getMessage()), Effect.NONE, server, cause);
            }
        }
        Throwable innermost = innermost(cause);
        // What has waited for the future in vain tells no more than that.
        String why = innermost instanceof TimeoutException && innermost.getMessage() == null
                ? "no answer in time"
                : String.valueOf(innermost.getMessage());
        return new StoreException(Reason.UNAVAILABLE, Effect.NONE, server + " can't be reached: " + why, cause);
    }

    /** Whether somebody answered, if only to refuse. */
    public static boolean isWordOfServer(Throwable failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (t instanceof RedisCommandExecutionException) {
                return true;
            }
        }
        return false;
    }

    /** The driver has made the connection, and does not take commands for it yet. */
    static boolean isNotYetActive(Throwable failure) {
        return Stages.causeOf(failure) instanceof RedisException refusal
                && String.valueOf(refusal.getMessage()).startsWith("Currently not connected");
    }

    /**
     * The driver lost its way while it connected, or noticed that the connection had ended before it looked at the
     * answer to its greeting; neither is a word of the server.
     */
    static boolean isWithoutReason(Throwable failure) {
        Throwable innermost = innermost(failure);
        return innermost instanceof IllegalStateException
                || "Connection closed prematurely".equals(innermost.getMessage());
    }

    /** There is no connection to send on; perhaps it is known why. */
    public static StoreException notConnected(String server, @Nullable Throwable why) {
        return new StoreException(
                Reason.UNAVAILABLE,
                Effect.NONE,
                "there is no connection to " + server + " at present"
                        + (why == null ? "" : ": " + innermost(why).getMessage()),
                why);
    }

    public static StoreException timedOut(String server) {
        return new StoreException(Reason.UNAVAILABLE, Effect.UNKNOWN, server + " did not answer in time", null);
    }

    public static StoreException nonsense(String server) {
        return new StoreException(
                Reason.CORRUPT, Effect.UNKNOWN, server + " answered something else than the script does", null);
    }

    public static StoreException closed(Effect effect) {
        return new StoreException(Reason.CLOSED, effect, "the connection to Redis was closed by this client", null);
    }

    /**
     * By the server's words. The server looks at memory, disk, role and permissions before the first write of a script,
     * so a script that is refused for one of these has done nothing.
     */
    private static StoreException said(String words, Effect effect, String server, @Nullable Throwable cause) {
        if (has(words, "HFCORRUPT") || has(words, "WRONGTYPE")) {
            return new StoreException(
                    Reason.CORRUPT,
                    effect,
                    "what " + server
                            + " has in the place of the locks is not theirs or is damaged, and was left as it is ("
                            + words + "); what to do is in the manual, in docs/operations.md",
                    cause);
        } else if (has(words, "NOPERM") || has(words, "no permissions") || has(words, "can't run this command")) {
            return new StoreException(
                    Reason.DENIED,
                    effect,
                    server + " does not permit this user what locks need (" + words
                            + "); the manual lists the permissions",
                    cause);
        } else if (has(words, "WRONGPASS")
                || has(words, "NOAUTH")
                || has(words, "invalid password")
                || has(words, "invalid username-password")) {
            return new StoreException(
                    Reason.DENIED, Effect.NONE, server + " does not accept the user or the password", cause);
        } else if (has(words, "DB index")) {
            return new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    server + " has no database of that number (" + words
                            + "): by default they are 0 to 15, and 'databases' in its configuration says how many",
                    cause);
        } else if (has(words, "OOM ")) {
            return new StoreException(
                    Reason.DENIED, Effect.NONE, server + " has reached its maxmemory; give it room", cause);
        } else if (has(words, "MISCONF") || has(words, "NOREPLICAS")) {
            return new StoreException(
                    Reason.DENIED, Effect.NONE, server + " takes no writes at present: " + words, cause);
        } else if (isRedirection(words)) {
            return new StoreException(
                    Reason.UNAVAILABLE, Effect.NONE, server + " does not serve this at present: " + words, cause);
        } else if (has(words, "HFREPAIR")) {
            return new StoreException(
                    Reason.UNAVAILABLE, Effect.NONE, server + " has lost a key, which is being made again", cause);
        } else if (has(words, "READONLY")
                || has(words, "LOADING")
                || has(words, "BUSY")
                || has(words, "MASTERDOWN")
                || has(words, "NOSCRIPT")) {
            return new StoreException(
                    Reason.UNAVAILABLE, Effect.NONE, server + " can't serve at present: " + words, cause);
        }
        return new StoreException(Reason.UNAVAILABLE, Effect.UNKNOWN, server + " failed: " + words, cause);
    }

    /** A node of a cluster looks whether it is the one to ask before it does anything. */
    private static boolean isRedirection(String words) {
        return words.startsWith("MOVED ")
                || words.startsWith("ASK ")
                || words.startsWith("TRYAGAIN")
                || words.startsWith("CLUSTERDOWN");
    }

    private static boolean said(RedisCommandExecutionException refusal, String code) {
        return String.valueOf(refusal.getMessage()).startsWith(code);
    }

    private static boolean has(String words, String code) {
        return words.contains(code);
    }

    private static Throwable innermost(Throwable failure) {
        Throwable innermost = failure;
        for (int depth = 0; innermost.getCause() != null && depth < 20; depth++) {
            innermost = innermost.getCause();
        }
        return innermost;
    }
}
