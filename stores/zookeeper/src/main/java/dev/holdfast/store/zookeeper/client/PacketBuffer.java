package dev.holdfast.store.zookeeper.client;

import org.apache.jute.BinaryInputArchive;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;

/**
 * The largest packet of a client, its {@code jute.maxbuffer}. A client closes its connection when an answer is larger,
 * and again at each retry. So it must be able to read everything that other clients write.
 */
public final class PacketBuffer {

    /** The default size of a client, in bytes. */
    public static final int DEFAULT = ZKClientConfig.CLIENT_MAX_PACKET_LENGTH_DEFAULT;

    private PacketBuffer() {}

    /**
     * The size of a client's buffer in bytes: its limit for packets, or the limit of this JVM's decoder if that is
     * lower.
     *
     * @throws IllegalArgumentException if it is below {@link #DEFAULT} or not a number
     */
    static int of(ZKClientConfig config) {
        int size = Math.min(configured(config), BinaryInputArchive.maxBuffer);
        if (size < DEFAULT) {
            throw new IllegalArgumentException("The ZooKeeper client has a '" + ZKConfig.JUTE_MAXBUFFER + "' of " + size
                    + " bytes, but the store needs at least the default of " + DEFAULT
                    + ": the client drops its connection on every larger answer. Remove the setting, or "
                    + "raise it on clients and servers");
        }
        return size;
    }

    private static int configured(ZKClientConfig config) {
        try {
            return config.getInt(ZKConfig.JUTE_MAXBUFFER, DEFAULT);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "'" + ZKConfig.JUTE_MAXBUFFER + "' must be a number of bytes, not '"
                            + config.getProperty(ZKConfig.JUTE_MAXBUFFER) + "'",
                    e);
        }
    }
}
