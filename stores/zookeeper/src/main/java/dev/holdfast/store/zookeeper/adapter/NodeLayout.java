package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.IndexChange;
import dev.holdfast.store.register.IndexEntry;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The paths of the nodes below the root.
 *
 * <ul>
 *   <li>{@code r/<shard>}: the highest token of the records that were deleted; its version counts the deletions
 *   <li>{@code r/<shard>/<name>}: the record of a resource, its name percent-encoded
 *   <li>{@code r/<shard>/<name>/<incarnation>}: made and deleted with the record; each write of the record checks that
 *       it is there
 *   <li>{@code s/<session>}: ephemeral, the session record; its version changes with the epoch
 *   <li>{@code b/<session>}: ephemeral, written by each keep-alive
 *   <li>{@code h/<shard>/<session>}: what hangs on a session. It is persistent, since other clients write here too and
 *       an ephemeral node ends with its writer: when a process dies it stays until another one clears it away. Below it
 *       are
 *       <ul>
 *         <li>{@code <bucket>/<state><claim>-<name>}: the index. All of an entry is in its name, so that one request
 *             lists a bucket
 *         <li>{@code m/…}: the mail
 *       </ul>
 *   <li>{@code a/<shard>/<name>~<session>~<claim>~<epoch>~<request>}: ephemeral, a claim that waits beside the record
 *       of a resource; all of it is in the name, so that one request lists them
 *   <li>{@code turn}: where the next turn to clean up begins; written when one begins and ends
 *   <li>{@code clock}: written to learn the time of the leader
 * </ul>
 */
final class NodeLayout {

    /** Over so many parents records are spread, for the children of one node must fit in one answer. */
    static final int SHARDS = 256;

    /** Over so many parents what hangs on sessions is spread, for there may be many that were left behind. */
    static final int SESSION_SHARDS = 16;

    /** Over so many parents the index of a session is spread; an audit lists each of them. */
    static final int BUCKETS = 2;

    private static final Pattern SESSION = Pattern.compile("[0-9a-f]{1,16}-[0-9a-f]{32}");
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    /** Between the number of a claim and its resource, in the name of its entry. */
    private static final char CLAIM_END = '-';

    /** What the name of an entry begins with. */
    private static final char HELD = 'h';

    private static final char WAITING = 'w';

    /** Between the parts of an arrival, in the name of its node. */
    private static final char PART_END = '~';

    private final String root;
    private final String records;
    private final String[] shards = new String[SHARDS];
    private final String sessions;
    private final String beats;
    private final String helpers;

    NodeLayout(String root) {
        this.root = root;
        this.records = root + "/r";
        this.sessions = root + "/s";
        this.beats = root + "/b";
        this.helpers = root + "/h";
        for (int i = 0; i < SHARDS; i++) {
            shards[i] = records + '/' + HEX.toHexDigits((byte) i);
        }
    }

    String root() {
        return root;
    }

    String records() {
        return records;
    }

    String sessions() {
        return sessions;
    }

    String beats() {
        return beats;
    }

    /** The parents of what hangs on sessions. */
    String helpers() {
        return helpers;
    }

    String helpers(int shard) {
        return helpers() + '/' + Integer.toHexString(shard);
    }

    String arrivals() {
        return root + "/a";
    }

    String arrivals(int shard) {
        return arrivals() + '/' + HEX.toHexDigits((byte) shard);
    }

    String arrivals(ResourceName name) {
        return arrivals(shardOf(name));
    }

    String arrival(Arrival arrival) {
        ClaimRef claim = arrival.claim();
        return arrivals(claim.resource())
                + '/'
                + encoded(claim.resource())
                + PART_END
                + claim.session()
                + PART_END
                + Long.toHexString(claim.claim())
                + PART_END
                + Long.toHexString(arrival.epoch())
                + PART_END
                + Base64.getUrlEncoder().withoutPadding().encodeToString(arrival.request());
    }

    /** The arrival at a resource that a node is; empty for one at another, and for what somebody else has made. */
    static Optional<Arrival> arrival(ResourceName name, String node) {
        String[] parts = node.split(String.valueOf(PART_END), -1);
        if (parts.length != 5 || !parts[0].equals(encoded(name))) {
            return Optional.empty();
        }
        try {
            ClaimRef claim = new ClaimRef(name, new SessionId(parts[1]), Long.parseUnsignedLong(parts[2], 16));
            byte[] request = Base64.getUrlDecoder().decode(parts[4]);
            return Optional.of(new Arrival(claim, Long.parseUnsignedLong(parts[3], 16), request));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    String turn() {
        return root + "/turn";
    }

    /** Made last. */
    String clock() {
        return root + "/clock";
    }

    static int shardOf(ResourceName name) {
        int hash = name.value().hashCode() * 0x9E3779B9;
        return (hash >>> 24) & (SHARDS - 1);
    }

    String shard(int number) {
        return shards[number];
    }

    String shard(ResourceName name) {
        return shard(shardOf(name));
    }

    String record(ResourceName name) {
        return shard(name) + '/' + encoded(name);
    }

    /** What each write of a record checks: if the record is deleted, by whomever, this is gone and never made again. */
    String guard(ResourceName name, long incarnation) {
        return record(name) + '/' + HEX.toHexDigits(incarnation);
    }

    /** Whether an id is one of this store's; another one names no node. */
    static boolean isSession(SessionId id) {
        return SESSION.matcher(id.value()).matches();
    }

    String session(SessionId id) {
        return sessions + '/' + id;
    }

    String beat(SessionId id) {
        return beats + '/' + id;
    }

    /** The parent of what hangs on a session, whose id ends with a random digit. */
    String helper(SessionId id) {
        String text = id.value();
        return helpers + '/' + text.charAt(text.length() - 1) + '/' + text;
    }

    /** All that hangs on a session from its beginning, parents first. */
    List<String> helperNodes(SessionId id) {
        List<String> nodes = new ArrayList<>(List.of(helper(id), mailbox(id)));
        for (int i = 0; i < BUCKETS; i++) {
            nodes.add(bucket(id, i));
        }
        return nodes;
    }

    String bucket(SessionId id, int number) {
        return helper(id) + '/' + number;
    }

    /** The path of an entry that says that its claim waits, or holds. */
    String entry(ClaimRef claim, IndexChange.State state) {
        int bucket = (Long.hashCode(claim.claim()) * 0x9E3779B9) >>> 31;
        String session = claim.session().value();
        // The path of the bucket is written out: a part that is put together first is a copy that nobody needs.
        return helpers
                + '/'
                + session.charAt(session.length() - 1)
                + '/'
                + session
                + '/'
                + bucket
                + '/'
                + (state == IndexChange.State.HELD ? HELD : WAITING)
                + Long.toHexString(claim.claim())
                + CLAIM_END
                + encoded(claim.resource());
    }

    /** What the name of an entry has after its state: by it they are ordered, for a state may change. */
    static String claimOf(String entry) {
        return entry.substring(1);
    }

    /** The entry that a node is; empty for what somebody else must have made. */
    static Optional<IndexEntry> entry(SessionId session, String node) {
        int end = node.indexOf(CLAIM_END);
        char state = node.charAt(0);
        if (end < 2 || (state != HELD && state != WAITING)) {
            return Optional.empty();
        }
        try {
            long number = Long.parseLong(node.substring(1, end), 16);
            return decoded(node.substring(end + 1))
                    .map(name -> new IndexEntry(new ClaimRef(name, session, number), state == HELD));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    String mailbox(SessionId id) {
        return helper(id) + "/m";
    }

    static SessionId sessionOfMailbox(String path) {
        int end = path.lastIndexOf('/');
        return new SessionId(path.substring(path.lastIndexOf('/', end - 1) + 1, end));
    }

    /** What the name of a piece of mail begins with; ZooKeeper adds a number. */
    String mail(SessionId id) {
        return mailbox(id) + "/m";
    }

    /** A name without characters that paths can't have, or that mean something there. */
    static String encoded(ResourceName name) {
        String value = name.value();
        if (isPlain(value)) {
            return value;
        }
        StringBuilder text = new StringBuilder(3 * value.length());
        for (byte b : name.utf8()) {
            if (isPlain(b)) {
                text.append((char) b);
            } else {
                text.append('%').append(HEX.toHexDigits(b));
            }
        }
        return text.toString();
    }

    private static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (!isPlain(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isPlain(int c) {
        boolean isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return isLetter || (c >= '0' && c <= '9') || c == '-' || c == '_';
    }

    /** The name again; empty for what is no encoded name, which somebody else must have made. */
    static Optional<ResourceName> decoded(String node) {
        byte[] bytes = new byte[node.length()];
        int size = 0;
        try {
            for (int i = 0; i < node.length(); i++) {
                char c = node.charAt(i);
                if (c == '%') {
                    bytes[size++] = (byte) HexFormat.fromHexDigits(node, i + 1, i + 3);
                    i += 2;
                } else {
                    bytes[size++] = (byte) c;
                }
            }
            ResourceName name = new ResourceName(new String(bytes, 0, size, StandardCharsets.UTF_8));
            return encoded(name).equals(node) ? Optional.of(name) : Optional.empty();
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }
}
