package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.apache.zookeeper.KeeperException;

/**
 * The largest write that is sent: the client's limit, or what the servers seem to accept. A server does not report its
 * limit; it breaks the connection of a client that exceeds it. Repeating such a write would break the connection for
 * all requests of the client each time. If two connections in a row are lost with writes larger than any that a server
 * has acknowledged, writes of the size of the smaller one are refused for a minute.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
final class PacketLimit {

    /** No server has a lower limit: a smaller write was lost for another reason. */
    private static final int LEAST = 0x4000;

    private static final int SUSPICIOUS_LOSSES = 2;

    private static final Duration SUSPICION = Duration.ofMinutes(1);

    private final int own;
    private final LongSupplier ticks;

    // Guarded by this.
    private int acknowledged = LEAST;

    /** The number of connections in a row that were lost with such a write. */
    private int losses;

    private long lastLoss;

    /** The largest write that was lost with the last of them. */
    private int lostLast = Integer.MAX_VALUE;

    /** The smallest of the largest writes that were lost with the earlier ones. */
    private int lostBefore = Integer.MAX_VALUE;

    /**
     * Begins without knowledge of the servers.
     *
     * @param own the limit of the client in bytes
     */
    PacketLimit(int own, LongSupplier ticks) {
        this.own = own;
        this.ticks = ticks;
    }

    /** The refusal of a write that is too large; empty if it may be sent. */
    synchronized Optional<StoreException> refusal(int size) {
        if (size > own) {
            return Optional.of(refused("a write of " + size + " bytes exceeds the " + own
                    + " bytes that a ZooKeeper packet may have: raise 'jute.maxbuffer' on servers and clients"));
        }
        boolean isSuspected = losses >= SUSPICIOUS_LOSSES && size >= Math.min(lostLast, lostBefore);
        if (isSuspected && ticks.getAsLong() - lastLoss < SUSPICION.toNanos()) {
            return Optional.of(refused("a write of " + size
                    + " bytes seems to exceed the limit of the ZooKeeper servers, because the connection " + "broke "
                    + losses + " times when writes of this size were sent, and no write larger than " + acknowledged
                    + " bytes was accepted: raise their 'jute.maxbuffer' to that of the clients"));
        }
        return Optional.empty();
    }

    private static StoreException refused(String text) {
        return new StoreException(Reason.DENIED, Effect.NONE, text, null);
    }

    /** Notes that a server has accepted a write of this size. */
    synchronized void acknowledged(int size) {
        acknowledged = Math.max(acknowledged, size);
        if (size >= Math.min(lostLast, lostBefore)) {
            losses = 0;
            lostLast = Integer.MAX_VALUE;
            lostBefore = Integer.MAX_VALUE;
        }
    }

    /**
     * Notes that a write was not answered.
     *
     * @param sentAt when it was sent, by the same ticks
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
