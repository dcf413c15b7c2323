package dev.holdfast.store.redis.script;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * Where everything is on the server, and nowhere else is it decided: the store has a fixed number of buckets, each name
 * belongs to one of them, and a bucket is a fixed number of keys. All keys of a bucket have one hash tag, so they are
 * on one node of a cluster, whatever the names are; the tags of the buckets are spread evenly over the slots. The names
 * themselves are inside the keys and never part of one.
 *
 * <p>The number of buckets and the tags must not change while there is anything in the store.
 */
public final class BucketLayout {

    /** The namespace of those who don't ask for one. */
    public static final String DEFAULT_NAMESPACE = "holdfast";

    /** One letter for each key of a bucket, in the order in which the script takes them. */
    private static final String LETTERS = "hdo";

    /** The place of the hash of the names in use among the keys of a bucket. */
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
                    "A namespace in Redis has 1 to 64 letters, digits and '_', '.', ':' or '-', unlike '"
                            + ResourceName.printable(namespace) + "'");
        }
        if (Integer.bitCount(buckets) != 1 || buckets > SlotHash.SLOT_COUNT) {
            throw new IllegalArgumentException("Not a possible number of buckets: " + buckets);
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

    /** For each bucket the smallest number whose slot lies in that bucket's share of the slots. */
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

    /**
     * Whether a field of the hash is a name, and nothing of the script's own: that begins with a byte which UTF-8 does
     * not have.
     */
    public static boolean isName(byte[] field) {
        return field[0] != (byte) 0xFF;
    }

    public int buckets() {
        return keys.length;
    }

    /** The bucket of a name: by all bits of its hash, since the lowest alone are alike for names that count up. */
    public int bucketOf(ResourceName name) {
        int hash = name.hashCode() * 0x9E3779B9;
        return hash >>> 1 >>> (31 - Integer.numberOfTrailingZeros(keys.length));
    }

    /**
     * The bucket of a session: the store with several puts it at the end of the id. What is no id of ours is nowhere.
     */
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

    /**
     * What makes an id unique beside the number that the script gives it, and tells the bucket if there are several.
     */
    public String nonce(long random, int bucket) {
        String nonce = HexFormat.of().toHexDigits(random);
        return keys.length == 1 ? nonce : nonce + "." + bucket;
    }

    /** What a client is called that listens to a sharded channel: the script goes by the first letter. */
    public static String sharded(String client) {
        return "s" + client.substring(1);
    }

    /** The keys of a bucket, as the script takes them; not to be changed. */
    public byte[][] keys(int bucket) {
        return keys[bucket];
    }

    /**
     * How many of the last digits of a claim's number make the slot in which its session finds it again: a bucket has
     * few claims of a session where there are many buckets, and a look through the slots takes time.
     */
    public int slotDigits() {
        return keys.length == 1 ? 3 : 1;
    }

    /** What the script is told of a bucket before the commands. */
    public byte[] header(int bucket) {
        return ascii(slotDigits() + channels[bucket]);
    }

    /** What the names of the channels of a bucket begin with. */
    public String channels(int bucket) {
        return channels[bucket];
    }

    /** The channel on which a client is told of what happens in a bucket. */
    public String channel(int bucket, String client) {
        return channels[bucket] + client;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
