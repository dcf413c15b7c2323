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
 * Knows when the leader has heard of this client at the latest, from which it counts the time-out of the session.
 *
 * <p>A follower tells its leader nothing with a write of a client. It reports which clients it has heard of when the
 * leader pings it, twice in a tick, on the connection that the writes take too. So an acknowledged write proves that
 * the leader has heard of the packets that the same follower had answered to this client a report's time before.
 * Whether it will hear of the write itself depends on the follower's next report, which may be lost with the follower.
 * So a keep-alive counts only if a packet before it was recent enough, and a client that is silent otherwise sends some
 * packets just for that.
 *
 * <p>The monotonic clock stands still while the machine sleeps, and the leader's does not. So nothing that was sent
 * before a sleep counts after it, which the wall clock tells.
 *
 * <p><b>Thread-safety:</b> safe.
 */
public final class LeaderContact {

    /** The tick of servers that are set up as they come. */
    private static final Duration USUAL_TICK = Duration.ofSeconds(2);

    /** So many packets are remembered of the time that a report takes. */
    private static final int RESOLUTION = 8;

    /** A step of the wall clock is a sleep from this on. */
    private static final long SHORTEST_SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Optional<Duration> tick;
    private final LongSupplier ticks;
    private final LongSupplier wallMillis;

    /** How far the wall clock was ahead of the monotonic one. */
    @GuardedBy("this")
    private @Nullable Long ahead;

    /** What was sent before may be older than the monotonic clock tells. */
    @GuardedBy("this")
    private long awakeSince;

    @GuardedBy("this")
    private Duration timeout = Duration.ZERO;

    /** Computed once for each connection: every answer needs it, and dividing a duration makes many objects. */
    @GuardedBy("this")
    private Duration reportTime;

    /** Some of the packets that were answered through the present connection, the oldest first. */
    @GuardedBy("this")
    private final Deque<Packet> packets = new ArrayDeque<>();

    private record Packet(long sent, long answered) {}

    /** The latest time at which the leader is known to have heard of the client, or later. */
    @GuardedBy("this")
    private @Nullable Long heard;

    /**
     * Knows of no contact yet.
     *
     * @param tick the tick of the servers; empty for the usual one
     * @param ticks the monotonic clock of this machine, by which all times are given
     * @param wallMillis its wall clock
     */
    public LeaderContact(Optional<Duration> tick, LongSupplier ticks, LongSupplier wallMillis) {
        this.tick = tick;
        this.ticks = ticks;
        this.wallMillis = wallMillis;
        this.reportTime = reportTime(tick, timeout);
    }

    /** Notes that a session is about to be made, which the leader does itself. */
    public synchronized void beginning(long now) {
        noteSleep();
        heard = now;
        packets.clear();
    }

    /**
     * Notes that there is a new connection: what came through another one may not have been reported. Called in order
     * with the answers.
     *
     * @param negotiated the time-out of the session by this connection
     */
    public synchronized void connected(Duration negotiated) {
        timeout = negotiated;
        reportTime = reportTime(tick, negotiated);
        packets.clear();
    }

    /** Notes that a packet has been answered just now. */
    synchronized void answered(long sent, long now) {
        noteSleep();
        Packet last = packets.peekLast();
        boolean isDense = last != null && sent - last.sent() < reportTime.toNanos() / RESOLUTION;
        if (isDense || sent - awakeSince < 0) {
            return;
        }
        packets.addLast(new Packet(sent, now));
        if (packets.size() > 4 * RESOLUTION) {
            packets.removeFirst();
        }
    }

    /**
     * Whether the servers keep the session for some time, whatever becomes of the one that this client is connected to.
     *
     * @param from when that time begins
     * @param ttl how long it is
     * @param written when a write was sent, at the earliest, that has just been acknowledged
     */
    public synchronized boolean lasts(long from, Duration ttl, long written) {
        noteSleep();
        long reported = written - reportTime().toNanos();
        for (Packet packet : packets) {
            if (packet.answered() - reported <= 0 && (heard == null || packet.sent() - heard > 0)) {
                heard = packet.sent();
            }
        }
        return heard != null && from - heard <= timeout.minus(ttl).toNanos();
    }

    /** Forgets what was before a sleep of this machine. Called more often than a clock is slewed by much. */
    @GuardedBy("this")
    private void noteSleep() {
        long now = ticks.getAsLong();
        long present = TimeUnit.MILLISECONDS.toNanos(wallMillis.getAsLong()) - now;
        if (ticks.getAsLong() - now > SHORTEST_SLEEP_NANOS / 2) {
            return; // this thread was put aside in between, which would look like a sleep
        }
        if (ahead == null || present - ahead > SHORTEST_SLEEP_NANOS) {
            awakeSince = now;
            packets.clear();
            heard = null;
        }
        ahead = present;
    }

    /**
     * After which time a follower has reported a packet. That takes half a tick, or a whole one for an observer that
     * follows a follower. A tick leaves the usual follower as much again for pauses of the leader. Servers grant no
     * time-out below two ticks, so a short one tells that they have short ticks.
     */
    public synchronized Duration reportTime() {
        return reportTime;
    }

    private static Duration reportTime(Optional<Duration> tick, Duration timeout) {
        Duration quarter = timeout.dividedBy(4);
        return tick.orElse(quarter.compareTo(USUAL_TICK) < 0 ? quarter : USUAL_TICK);
    }

    /** How often a client that is silent otherwise sends a packet. */
    public synchronized Duration pause() {
        Duration half = reportTime().dividedBy(2);
        Duration little = timeout.dividedBy(20);
        return half.compareTo(little) > 0 ? half : little;
    }

    /** The longest ttl for which a keep-alive is good at once; not positive if the time-out is too short for any. */
    public synchronized Duration longestTtl() {
        return timeout.minus(reportTime()).minus(pause()).minus(reportTime().dividedBy(RESOLUTION));
    }

    /** The time-out of the session. */
    public synchronized Duration timeout() {
        return timeout;
    }
}
