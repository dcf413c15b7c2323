package dev.holdfast.store.redis.script;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The layout of the store on the server, decided only here. The store has a fixed number of buckets, each name belongs
 * to one of them, and a bucket is a fixed number of keys. All keys of a bucket share a hash tag, so they are on one
 * node of a cluster, whatever the names are; the tags are spread evenly over the slots. Names are inside the keys'
 * values and never part of a key.
 *
 * <p>The number of buckets and the tags must not change while the store contains anything.
 */
public final class BucketLayout {

    /** The default namespace. */
    public static final String DEFAULT_NAMESPACE = "holdfast";

    /** One letter for each key of a bucket, in the order of the script's KEYS. */
    private static final String LETTERS = "hdo";

    /** The index of the hash with the names in use among the keys of a bucket. */
    public static final int NAMES = 0;

    private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9_.:-]{1,64}");

    private final byte[][][] keys;
    private final String[] channels;

    /**
     * Lays out a store.
     *
     * @param buckets a power of two, at most 16,384
     * @throws IllegalArgumentException if the namespace is not of 1 to 64 letters, digits and {@code _ . : -}
     */
    public BucketLayout(String namespace, int buckets) {
        if (!NAMESPACE.matcher(namespace).matches()) {
            throw new IllegalArgumentException(
                    "A namespace in Redis must have 1 to 64 letters, digits and '_', '.', ':' or '-', not '"
                            + ResourceName.printable(namespace) + "'");
        }
        if (Integer.bitCount(buckets) != 1 || buckets > SlotHash.SLOT_COUNT) {
            throw new IllegalArgumentException("Not a valid number of buckets: " + buckets);
        }
        this.keys = new byte[buckets][LETTERS.length()][];
        this.channels = new String[buckets];
        String[] tags = tags(buckets);
        for (int bucket = 0; bucket < buckets; bucket++) {
            String prefix = namespace + ":{" + tags[bucket] + "}:";
            for (int i = 0; i < LETTERS.length(); i++) {
                keys[bucket][i] = ascii(prefix + LETTERS.charAt(i));
            }
            channels[bucket] = prefix + "to:";
        }
    }

    /** For each bucket, the smallest number whose slot is in that bucket's share of the slots. */
    private static String[] tags(int buckets) {
        String[] tags = new String[buckets];
        int share = SlotHash.SLOT_COUNT / buckets;
        int missing = buckets;
        for (int candidate = 0; missing > 0; candidate++) {
            String tag = Integer.toString(candidate);
            int bucket = SlotHash.getSlot(tag) / share;
            if (tags[bucket] == null) {
                tags[bucket] = tag;
                missing--;
            }
        }
        return tags;
    }

    /** Whether a field of the hash is a name. The script's own fields start with a byte that UTF-8 doesn't contain. */
    public static boolean isName(byte[] field) {
        return field[0] != (byte) 0xFF;
    }

    public int buckets() {
        return keys.length;
    }

    /** The bucket of a name, by all bits of its hash: the lowest bits alone are similar for names with a counter. */
    public int bucketOf(ResourceName name) {
        int hash = name.hashCode() * 0x9E3779B9;
        return hash >>> 1 >>> (31 - Integer.numberOfTrailingZeros(keys.length));
    }

    /** The bucket of a session: a store with several buckets appends it to the id. Unknown ids map to bucket 0. */
    public int bucketOf(SessionId session) {
        String id = session.value();
        int dot = id.lastIndexOf('.');
        if (keys.length == 1 || dot < 0 || dot == id.indexOf('.')) {
            return 0;
        }
        try {
            int bucket = Integer.parseInt(id.substring(dot + 1));
            return bucket >= 0 && bucket < keys.length ? bucket : 0;
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /** Makes session ids unique, in addition to the script's counter, and names the bucket if there are several. */
    public String nonce(long random, int bucket) {
        String nonce = HexFormat.of().toHexDigits(random);
        return keys.length == 1 ? nonce : nonce + "." + bucket;
    }

    /** The name of a client on sharded channels, which the script recognises by the first letter. */
    public static String sharded(String client) {
        return "s" + client.substring(1);
    }

    /** The script's KEYS for a bucket; not to be modified. */
    public byte[][] keys(int bucket) {
        return keys[bucket];
    }

    /**
     * How many of the last digits of a claim's number are its slot, by which its session finds it. With many buckets
     * each has few claims of a session, and scanning slots takes time.
     */
    public int slotDigits() {
        return keys.length == 1 ? 3 : 1;
    }

    /** The script's arguments before the commands. */
    public byte[] header(int bucket) {
        return ascii(slotDigits() + channels[bucket]);
    }

    /** The prefix of a bucket's channel names. */
    public String channels(int bucket) {
        return channels[bucket];
    }

    /** The channel for one client's messages from a bucket. */
    public String channel(int bucket, String client) {
        return channels[bucket] + client;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
