package dev.holdfast.engine.client;

import dev.holdfast.ClientClosedException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a client's failures: what happened, to which lock, on which store, and what to do.
 *
 * @param store the store, for people
 */
public record Failures(String store) {

    public RuntimeException closed() {
        return new ClientClosedException(store);
    }

    public RuntimeException timedOut(String resource, Duration waited) {
        return new LockWaitTimeoutException(resource, store, waited);
    }

    /**
     * For a wait that timed out, with the holder.
     *
     * @param found the record of the resource; empty if the store has not returned it
     * @param session the session of this client, which may itself be the holder
     * @param hint what else is known of the reason; may be empty
     */
    public RuntimeException timedOut(
            String resource, Duration waited, Optional<LockInfo> found, String session, String hint) {
        LockInfo info = found.filter(LockInfo::isHeld).orElse(null);
        if (info == null || info.holders().isEmpty()) {
            return hint.isEmpty()
                    ? timedOut(resource, waited)
                    : new LockWaitTimeoutException(resource, store, waited, hint);
        }
        LockInfo.Holder holder = info.holders().get(0);
        String reason = inTheWay(info, holder, session) + (hint.isEmpty() ? "" : "; " + hint);
        return new LockWaitTimeoutException(resource, store, waited, reason, holder);
    }

    /** As {@code 'worker-7' holds it with token 412 and about 18 s of lease left, with 2 others; 3 waiting}. */
    private static String inTheWay(LockInfo info, LockInfo.Holder holder, String session) {
        String who = holder.session().equals(session) ? "this client ('" + holder.label() + "')" : named(holder);
        String token = holder.token() == holder.lastToken()
                ? "token " + holder.token()
                : "a token from " + holder.token() + " to " + holder.lastToken();
        long others = info.holding() - 1;
        return who + " holds it with " + token + " and about " + inSeconds(holder.leaseLeft()) + " of lease left"
                + (holder.message().isEmpty() ? "" : " (\"" + ResourceName.printable(holder.message()) + "\")")
                + (others <= 0 ? "" : ", with " + others + (others == 1 ? " other" : " others"))
                + (info.waiting() == 0 ? "" : "; " + info.waiting() + " waiting");
    }

    private static String named(LockInfo.Holder holder) {
        return holder.label().isBlank() ? "an unnamed client" : "'" + holder.label() + "'";
    }

    private static String inSeconds(Duration left) {
        return left.compareTo(Duration.ofSeconds(2)) < 0 ? left.toMillis() + " ms" : left.toSeconds() + " s";
    }

    /** For a try that found the resource taken, with the holder if it is known. */
    public RuntimeException taken(String resource, @Nullable String reason) {
        return reason == null
                ? timedOut(resource, Duration.ZERO)
                : new LockWaitTimeoutException(resource, store, Duration.ZERO, reason);
    }

    /** For a call that only the store time-out bounds. */
    public RuntimeException unanswered(String resource, Duration storeTimeout, @Nullable StoreException why) {
        return unansweredFor(resource, "within the store time-out of " + DurationFormat.format(storeTimeout), why);
    }

    /** For a wait that ended before the store had answered. */
    public RuntimeException unansweredInWait(
            String resource, Duration waited, Duration overtime, @Nullable StoreException why) {
        return unansweredFor(
                resource,
                "within the caller's maximum wait of " + DurationFormat.format(waited) + ", nor in the "
                        + DurationFormat.format(overtime) + " after it",
                why);
    }

    private RuntimeException unansweredFor(String resource, String within, @Nullable StoreException why) {
        return new StoreUnavailableException(
                "Lock '" + resource + "' could not be requested: the store " + store + " did not answer " + within
                        + (why == null ? "" : ": " + why.getMessage())
                        + ". The caller holds nothing: if the store has granted the lock, the grant "
                        + "is withdrawn or ends with the session.",
                resource,
                store,
                why);
    }

    public RuntimeException taskUnanswered(String task, Duration atMost, StoreUnavailableException cause) {
        return new StoreUnavailableException(
                "Task '" + task + "' was not run, because the store " + store
                        + " did not answer whether it is due. If the store has granted the lock, the grant "
                        + "is withdrawn, or expires after "
                        + DurationFormat.format(atMost) + ".",
                task,
                store,
                cause);
    }

    public RuntimeException noSession(Duration within) {
        return new StoreUnavailableException(
                "The store " + store + " did not open a session within " + DurationFormat.format(within)
                        + ". Check that the store is reachable; nothing is held.",
                "",
                store,
                null);
    }

    public RuntimeException unconfirmed(String resource, long token, Duration lease, @Nullable StoreException why) {
        return new StoreUnavailableException(
                "The release of '" + resource + "' (token " + token + ") was not confirmed by the store " + store
                        + (why == null ? "" : ": " + why.getMessage())
                        + ". The release is retried in the background; otherwise the lease expires "
                        + "within " + DurationFormat.format(lease) + ".",
                resource,
                store,
                why);
    }

    /** For a part that was acquired and whose release, after the whole failed, was not confirmed. */
    public RuntimeException notGivenBack(String resource, Duration lease) {
        return new StoreUnavailableException(
                "'" + resource + "' was acquired, but other locks of the same request were not, so it is being "
                        + "released; the store " + store
                        + " has not confirmed that. The release is retried in the background; otherwise the "
                        + "lease expires within " + DurationFormat.format(lease) + ".",
                resource,
                store,
                null);
    }

    /** For a party that gave up entering a barrier and does not know whether it opens. */
    public RuntimeException mayBeCounted(String barrier, Duration lease) {
        return new StoreUnavailableException(
                "Barrier '" + barrier
                        + "' may still open with this party counted: another party has been opening it for "
                        + "longer than the store time-out, or the store " + store
                        + " did not answer. This party's place is released in the background once the "
                        + "barrier can no longer open with it; if this client dies, the place expires with "
                        + "its lease of " + DurationFormat.format(lease) + ".",
                barrier,
                store,
                null);
    }

    public RuntimeException uncounted(String latch, String id) {
        return new StoreUnavailableException(
                "It is unknown whether '" + id + "' has counted down latch '" + latch + "': the store " + store
                        + " did not answer. Repeat the call with the same id; it counts only once.",
                latch,
                store,
                null);
    }

    public RuntimeException unknownCount(String latch) {
        return new StoreUnavailableException(
                "It is unknown whether the count of latch '" + latch + "' was set: the store " + store
                        + " did not answer in time. Check the count before setting it again.",
                latch,
                store,
                null);
    }

    /** For an inspection of an operator, which changes nothing. */
    public RuntimeException ofInspection(String resource, StoreException failure) {
        String what = resource.isEmpty() ? "The store " + store : "'" + resource + "' on the store " + store;
        if (failure.reason() == Reason.UNAVAILABLE || failure.reason() == Reason.CLOSED) {
            return new StoreUnavailableException(
                    what + " could not be inspected: " + failure.getMessage() + ". Nothing was changed.",
                    resource,
                    store,
                    failure);
        }
        return new StoreRefusedException(
                what + " can't be inspected: " + failure.getMessage(), resource, store, failure);
    }

    /** For a forced release. */
    public RuntimeException ofForcedRelease(String resource, long token, StoreException failure) {
        if (failure.effect() == StoreException.Effect.UNKNOWN) {
            return new StoreUnavailableException(
                    "It is unknown whether '" + resource + "' was released from the holder of token " + token
                            + ": the store " + store + " did not answer: " + failure.getMessage()
                            + ". Repeat the release with the same token; it can't end a later hold, whose "
                            + "token differs.",
                    resource,
                    store,
                    failure);
        }
        return ofInspection(resource, failure);
    }

    /** The first of several failures, with the others suppressed in it. */
    public static RuntimeException joined(List<RuntimeException> failures) {
        RuntimeException first = failures.get(0);
        failures.stream().skip(1).forEach(first::addSuppressed);
        return first;
    }

    /** For a lock, or for the whole client if the name is empty. */
    public RuntimeException ofStore(String resource, StoreException failure) {
        String what = resource.isEmpty() ? "The store " + store : "Lock '" + resource + "' on the store " + store;
        if (failure.reason() == Reason.UNAVAILABLE || failure.reason() == Reason.CLOSED) {
            return new StoreUnavailableException(
                    what + " can't be reached: " + failure.getMessage()
                            + ". The caller holds nothing new: if the store has granted the lock, "
                            + "the grant is withdrawn or ends with the session.",
                    resource,
                    store,
                    failure);
        }
        return new StoreRefusedException(what + " can't be used: " + failure.getMessage(), resource, store, failure);
    }
}
