package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The answer to "why am I waiting?", to be copied into a ticket. */
final class Ticket {

    private static final int MAX_HOPS = 8;

    private Ticket() {}

    static String text(SeenLock lock, BlockingForest forest, Instant now) {
        LockInfo info = lock.info();
        List<String> sentences = new ArrayList<>();
        if (info.holders().isEmpty()) {
            sentences.add(lock.name() + " is free.");
        } else {
            sentences.add(holders(lock, now));
        }
        if (!lock.standsBy()) {
            sentences.add(queue(lock, now));
        }
        if (!info.holders().isEmpty()) {
            LockInfo.Holder first = info.holders().get(0);
            sentences.add(chain(first, forest));
            sentences.add(lease(lock.lease(first), info.holders().size() > 1, now));
        }
        sentences.removeIf(String::isEmpty);
        sentences.add("As of " + Words.moment(now) + ".");
        return String.join(" ", sentences);
    }

    private static String holders(SeenLock lock, Instant now) {
        List<LockInfo.Holder> holders = lock.info().holders();
        LockInfo.Holder first = holders.get(0);
        if (lock.info().holding() > 1) {
            return lock.name() + " is held by " + lock.info().holding() + ": "
                    + holders.stream()
                            .limit(3)
                            .map(holder -> Words.label(holder.label()))
                            .collect(Collectors.joining(", "))
                    + (lock.info().holding() > 3 ? " and others." : ".");
        }
        return lock.name() + " has been held by " + Words.label(first.label()) + " for "
                + Words.duration(Duration.between(lock.since(first), now)) + " under token " + first.token()
                + (first.message().isEmpty() ? "." : ": “" + first.message() + "”.");
    }

    private static String queue(SeenLock lock, Instant now) {
        LockInfo info = lock.info();
        if (info.waiting() == 0 || info.waiters().isEmpty()) {
            return "No claim waits.";
        }
        LockInfo.Waiter first = info.waiters().get(0);
        return Words.count(info.waiting(), "claim waits", "claims wait") + ", the first, "
                + Words.label(first.label()) + ", for "
                + Words.duration(Duration.between(lock.since(first), now)) + ".";
    }

    /** What the holder waits for itself, and so on; empty if nothing is known. */
    private static String chain(LockInfo.Holder holder, BlockingForest forest) {
        BlockingForest.Actor first = forest.waitingOwner(holder);
        BlockingForest.Actor actor = first;
        List<String> hops = new ArrayList<>();
        String end = ".";
        while (actor != null && actor.awaits != null) {
            BlockingForest.Actor next = forest.next(actor);
            hops.add(actor.awaits + (next == null ? "" : ", held by " + Words.label(next.label)));
            actor = next;
            if (next == first) {
                end = ": they wait for each other.";
                break;
            } else if (hops.size() == MAX_HOPS) {
                end = ", and so on.";
                break;
            }
        }
        return hops.isEmpty() ? "" : "The holder itself waits for " + String.join(", which waits for ", hops) + end;
    }

    private static String lease(SeenLease lease, boolean isOneOfMany, Instant now) {
        return switch (lease.state()) {
            case RENEWED ->
                isOneOfMany
                        ? "The lease of the oldest holder is being renewed."
                        : "The lease is being renewed, so the holder's process is alive.";
            case DRAINING ->
                "The holder's lease has not been renewed for " + Words.duration(lease.silence(now))
                        + "; the hold ends in " + Words.duration(lease.left(now)) + " unless it is.";
            case UNKNOWN -> "";
        };
    }
}
