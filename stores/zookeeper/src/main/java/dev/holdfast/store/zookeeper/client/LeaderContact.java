package dev.holdfast.store.zookeeper.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Computes when the leader last renewed this client's session, whose time-out it counts from then.
 *
 * <p>A write through a follower does not renew the session. The follower reports its active clients when the leader
 * pings it, twice a tick, on the connection that also carries the writes. So an acknowledged write proves that the
 * leader knows of each packet which the same follower answered at least a report delay before. Whether the write itself
 * is reported depends on the follower's next report, which may be lost with the follower. So a keep-alive counts only
 * if an earlier packet was recent enough, and an otherwise silent client sends packets for that purpose.
 *
 * <p>The monotonic clock may stop while the machine is suspended; the leader's does not. So packets from before a
 * suspension, which the wall clock shows, do not count after it.
 *
 * <p><b>Thread-safety:</b> safe.
 */
public final class LeaderContact {

    /** The default tick of servers. */
    private static final Duration USUAL_TICK = Duration.ofSeconds(2);

    /** How many packets are remembered for each report delay. */
    private static final int RESOLUTION = 8;

    /** A step of the wall clock of at least this counts as a suspension. */
    private static final long MIN_SUSPENSION_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Optional<Duration> tick;
    private final LongSupplier ticks;
    private final LongSupplier wallMillis;

    /** How far the wall clock was ahead of the monotonic clock. */
    @GuardedBy("this")
    private @Nullable Long wallAheadNanos;

    /** Packets sent before this may be older than the monotonic clock shows. */
    @GuardedBy("this")
    private long awakeSince;

    @GuardedBy("this")
    private Duration timeout = Duration.ZERO;

    /** Computed once per connection: every answer needs it, and dividing a duration allocates many objects. */
    @GuardedBy("this")
    private Duration reportDelay;

    /** Some of the packets answered on the present connection, oldest first. */
    @GuardedBy("this")
    private final Deque<Packet> packets = new ArrayDeque<>();

    private record Packet(long sent, long answered) {}

    /** When the latest packet that the leader certainly knows of was sent. */
    @GuardedBy("this")
    private @Nullable Long leaderContactAt;

    /**
     * Starts without any contact.
     *
     * @param tick the tick of the servers; empty for the default
     * @param ticks the monotonic clock of this machine, for all times
     * @param wallMillis the wall clock of this machine
     */
    public LeaderContact(Optional<Duration> tick, LongSupplier ticks, LongSupplier wallMillis) {
        this.tick = tick;
        this.ticks = ticks;
        this.wallMillis = wallMillis;
        this.reportDelay = reportDelay(tick, timeout);
    }

    /** Notes that a session is about to be created, which the leader does itself. */
    public synchronized void sessionOpening(long now) {
        detectSuspension();
        leaderContactAt = now;
        packets.clear();
    }

    /**
     * Notes a new connection: packets of the previous one may never be reported. Called in order with the answers.
     *
     * @param negotiated the session time-out on this connection
     */
    public synchronized void connected(Duration negotiated) {
        timeout = negotiated;
        reportDelay = reportDelay(tick, negotiated);
        packets.clear();
    }

    /** Notes the answer to a packet. */
    synchronized void answered(long sent, long now) {
        detectSuspension();
        Packet last = packets.peekLast();
        boolean isDense = last != null && sent - last.sent() < reportDelay.toNanos() / RESOLUTION;
        if (isDense || sent - awakeSince < 0) {
            return;
        }
        packets.addLast(new Packet(sent, now));
        if (packets.size() > 4 * RESOLUTION) {
            packets.removeFirst();
        }
    }

    /**
     * Whether the session lasts for a ttl even if the connected server is lost.
     *
     * @param from when the ttl begins
     * @param written the earliest time at which the write acknowledged just now may have been sent
     */
    public synchronized boolean outlasts(long from, Duration ttl, long written) {
        detectSuspension();
        long reported = written - reportDelay().toNanos();
        for (Packet packet : packets) {
            if (packet.answered() - reported <= 0 && (leaderContactAt == null || packet.sent() - leaderContactAt > 0)) {
                leaderContactAt = packet.sent();
            }
        }
        return leaderContactAt != null
                && from - leaderContactAt <= timeout.minus(ttl).toNanos();
    }

    /** Forgets contacts from before a suspension. Called so often that slewing of a clock does not count as one. */
    @GuardedBy("this")
    private void detectSuspension() {
        long now = ticks.getAsLong();
        long present = TimeUnit.MILLISECONDS.toNanos(wallMillis.getAsLong()) - now;
        if (ticks.getAsLong() - now > MIN_SUSPENSION_NANOS / 2) {
            return; // this thread was descheduled in between, which would be mistaken for a suspension
        }
        if (wallAheadNanos == null || present - wallAheadNanos > MIN_SUSPENSION_NANOS) {
            awakeSince = now;
            packets.clear();
            leaderContactAt = null;
        }
        wallAheadNanos = present;
    }

    /**
     * The time after which a follower has reported a packet: one tick. A report takes up to half a tick, or a tick for
     * an observer that follows a follower; the rest allows for pauses of the leader. Servers grant no time-out below
     * two ticks, so a short time-out implies a short tick.
     */
    public synchronized Duration reportDelay() {
        return reportDelay;
    }

    private static Duration reportDelay(Optional<Duration> tick, Duration timeout) {
        Duration quarter = timeout.dividedBy(4);
        return tick.orElse(quarter.compareTo(USUAL_TICK) < 0 ? quarter : USUAL_TICK);
    }

    /** The pause between the packets of an otherwise silent client. */
    public synchronized Duration pause() {
        Duration half = reportDelay().dividedBy(2);
        Duration little = timeout.dividedBy(20);
        return half.compareTo(little) > 0 ? half : little;
    }

    /** The longest ttl that one keep-alive can renew; not positive if the time-out is too short for any. */
    public synchronized Duration longestTtl() {
        return timeout.minus(reportDelay()).minus(pause()).minus(reportDelay().dividedBy(RESOLUTION));
    }

    /** The session time-out. */
    public synchronized Duration timeout() {
        return timeout;
    }
}
