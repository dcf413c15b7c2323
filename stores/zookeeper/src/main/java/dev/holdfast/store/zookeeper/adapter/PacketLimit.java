package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.apache.zookeeper.KeeperException;

/**
 * The largest write that is sent: of what the client may send, or of what the servers seem to take. A server does not
 * tell its limit. It breaks the connection of whoever exceeds it, so a write that is sent again and again would cost
 * all requests of the client their connection each time. When large writes were lost with two connections in a row,
 * larger than any that a server has acknowledged, what is as large as the smaller of them is refused for a minute.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
final class PacketLimit {

    /** No server has a limit that is lower: a smaller write was lost for another reason. */
    private static final int LEAST = 0x4000;

    private static final int SUSPICIOUS_LOSSES = 2;

    private static final Duration SUSPICION = Duration.ofMinutes(1);

    private final int own;
    private final LongSupplier ticks;

    // Guarded by this.
    private int acknowledged = LEAST;

    /** With how many connections in a row. */
    private int losses;

    private long lastLoss;

    /** The largest write that was lost with the last of them. */
    private int lostLast = Integer.MAX_VALUE;

    /** The smallest of the largest that were lost with those before. */
    private int lostBefore = Integer.MAX_VALUE;

    /**
     * Knows nothing of the servers yet.
     *
     * @param own what the client may send, in bytes
     */
    PacketLimit(int own, LongSupplier ticks) {
        this.own = own;
        this.ticks = ticks;
    }

    /** Why a write is not to be sent; empty if it may be. */
    synchronized Optional<StoreException> refusal(int size) {
        if (size > own) {
            return Optional.of(refused("a write of " + size + " bytes is more than the " + own
                    + " that a packet of ZooKeeper may have: raise 'jute.maxbuffer' on servers and clients"));
        }
        boolean isSuspected = losses >= SUSPICIOUS_LOSSES && size >= Math.min(lostLast, lostBefore);
        if (isSuspected && ticks.getAsLong() - lastLoss < SUSPICION.toNanos()) {
            return Optional.of(refused("a write of " + size + " bytes seems to be more than the servers of ZooKeeper"
                    + " take, since the connection broke " + losses + " times when as much was sent, and nothing larger"
                    + " than " + acknowledged
                    + " bytes was taken: raise their 'jute.maxbuffer' to that of the clients"));
        }
        return Optional.empty();
    }

    private static StoreException refused(String text) {
        return new StoreException(Reason.DENIED, Effect.NONE, text, null);
    }

    /** Servers have taken a write of that size. */
    synchronized void acknowledged(int size) {
        acknowledged = Math.max(acknowledged, size);
        if (size >= Math.min(lostLast, lostBefore)) {
            losses = 0;
            lostLast = Integer.MAX_VALUE;
            lostBefore = Integer.MAX_VALUE;
        }
    }

    /**
     * A write was not answered.
     *
     * @param sentAt when it left, by the same ticks
     */
    synchronized void failed(int size, long sentAt, Throwable failure) {
        if (size <= acknowledged || !isLossOfConnection(failure)) {
            return;
        }
        if (losses > 0 && sentAt - lastLoss <= 0) {
            lostLast = Math.max(lostLast, size); // by the same connection, of which the largest write is the one
            return;
        }
        losses++;
        lostBefore = Math.min(lostBefore, lostLast);
        lostLast = size;
        lastLoss = ticks.getAsLong();
    }

    long now() {
        return ticks.getAsLong();
    }

    private static boolean isLossOfConnection(Throwable failure) {
        return failure.getCause() instanceof KeeperException.ConnectionLossException;
    }
}
