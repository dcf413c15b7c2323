package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalLong;

/**
 * A session that this client opened, as the client knows it. The servers keep its nodes as long as the handle lives, so
 * the client must end a session that was not renewed for its ttl.
 *
 * <p><b>Thread-safety:</b> safe.
 */
final class OwnSession {

    private final SessionId id;
    private final Duration ttl;

    // Guarded by this.
    private long epoch;
    private int version;
    private long renewed;
    private final Deque<Long> renewals = new ArrayDeque<>();
    private boolean ended;

    /** Makes a session with epoch 0 that was opened just now. */
    OwnSession(SessionId id, Duration ttl, long now) {
        this.id = id;
        this.ttl = ttl;
        this.renewed = now;
    }

    SessionId id() {
        return id;
    }

    Duration ttl() {
        return ttl;
    }

    /**
     * An epoch, and the version that the session's node had with it.
     *
     * @param version of the node
     */
    record Epoch(long epoch, int version) {}

    synchronized Epoch epoch() {
        return new Epoch(epoch, version);
    }

    /** Notes an epoch that was read or written; an older one changes nothing. */
    synchronized void seen(long number, int ofVersion) {
        if (ofVersion > version) {
            epoch = number;
            version = ofVersion;
        }
    }

    synchronized boolean hasEnded() {
        return ended;
    }

    /** Ends it for this client; returns whether it was open. */
    synchronized boolean end() {
        boolean isNews = !ended;
        ended = true;
        return isNews;
    }

    /** Notes that a renewal is sent; returns when the oldest unanswered one was sent, if there is one. */
    synchronized OptionalLong renewing(long now) {
        OptionalLong oldest = renewals.isEmpty() ? OptionalLong.empty() : OptionalLong.of(renewals.getFirst());
        renewals.addLast(now);
        return oldest;
    }

    /** Notes that a renewal succeeded. */
    synchronized void renewed(long sent, long now) {
        renewals.remove(sent);
        renewed = Math.max(renewed - now, 0) + now;
    }

    /** Notes that a renewal failed, or renewed nothing. */
    synchronized void notRenewed(long sent) {
        renewals.remove(sent);
    }

    /**
     * The remaining time without a renewal. It is not over while a renewal is unanswered: that may have succeeded, and
     * then the session lasts for the ttl from then.
     */
    synchronized long leftNanos(long now) {
        long left = renewed + ttl.toNanos() - now;
        return left <= 0 && !renewals.isEmpty() ? 1 : left;
    }

    /** Ends the session if its ttl has passed; returns whether it did. */
    synchronized boolean endIfOver(long now) {
        return !ended && leftNanos(now) <= 0 && end();
    }
}
