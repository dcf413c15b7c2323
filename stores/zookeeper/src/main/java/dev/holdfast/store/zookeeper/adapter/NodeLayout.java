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
 *   <li>{@code r/<shard>}: the highest token of the deleted records; its version counts the deletions
 *   <li>{@code r/<shard>/<name>}: the record of a resource, its name percent-encoded
 *   <li>{@code r/<shard>/<name>/<incarnation>}: the guard, created and deleted with the record; each write of the
 *       record checks that it exists
 *   <li>{@code s/<session>}: ephemeral, the session record; its version changes with the epoch
 *   <li>{@code b/<session>}: ephemeral, written by each keep-alive
 *   <li>{@code h/<shard>/<session>}: the helper nodes of a session. They are persistent, because other clients write
 *       them too, and an ephemeral node ends with its writer. When a process dies they stay until another one removes
 *       them. Below it are
 *       <ul>
 *         <li>{@code <bucket>/<state><claim>-<name>}: the index. An entry is only a name, so that one request
 *             lists a bucket
 *         <li>{@code m/m<number>}: a piece of mail
 *         <li>{@code m/c<data>}: the data of the next piece, created and deleted by the write that creates it
 *       </ul>
 *   <li>{@code a/<shard>/<name>~<session>~<claim>~<epoch>~<request>}: ephemeral, an announced claim, which is only a
 *       name, so that one request lists them
 *   <li>{@code n/<shard>/<session>~<claim>~<name>}: ephemeral, the annotation of a grant. Its parents are created when
 *       they are first needed, because an earlier version of the program did not
 *   <li>{@code t/<shard>/<name>}: the history of a scheduled task; its parents are made like those
 *   <li>{@code turn}: where the next turn to clean up begins; written when one begins and ends
 *   <li>{@code clock}: written to read the time of the leader
 * </ul>
 */
final class NodeLayout {

    /** The number of parents of records, because the children of one node must fit into one answer. */
    static final int SHARDS = 256;

    /** The number of parents of helper nodes, because many may be left behind. */
    static final int SESSION_SHARDS = 16;

    /** The number of parents of the index of a session; an audit lists each of them. */
    static final int BUCKETS = 2;

    private static final Pattern SESSION = Pattern.compile("[0-9a-f]{1,16}-[0-9a-f]{32}");
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    /** Between the number of a claim and its resource, in the name of its entry. */
    private static final char CLAIM_END = '-';

    /** Each escaped character needs two more; with further ones the text is copied once. */
    private static final int ROOM_FOR_ESCAPES = 16;

    /** The beginning of the name of an entry. */
    private static final char HELD = 'h';

    private static final char WAITING = 'w';

    /** The beginning of the name of a piece of mail. */
    private static final char MAIL = 'm';

    private static final char MAIL_CONTENT = 'c';

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

    /** The parent of the parents of helper nodes. */
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

    /** The arrival of a node; empty for one at another resource, and for a node that is not of Holdfast. */
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

    String annotations() {
        return root + "/n";
    }

    /** The parent of the annotations of a session, whose id ends with a random digit. */
    String annotations(SessionId id) {
        String text = id.value();
        return annotations() + '/' + text.charAt(text.length() - 1);
    }

    String annotation(ClaimRef claim) {
        return annotations(claim.session())
                + '/'
                + claim.session()
                + PART_END
                + Long.toHexString(claim.claim())
                + PART_END
                + encoded(claim.resource());
    }

    String histories() {
        return root + "/t";
    }

    String histories(ResourceName name) {
        return histories() + '/' + HEX.toHexDigits((byte) shardOf(name));
    }

    String history(ResourceName name) {
        return histories(name) + '/' + encoded(name);
    }

    String turn() {
        return root + "/turn";
    }

    /** The clock, which is created last. */
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

    /** The guard that each write of a record checks. It ends with the record, and is never created again. */
    static String guard(String record, long incarnation) {
        return record + '/' + HEX.toHexDigits(incarnation);
    }

    /** Whether a session id has the form of this store; others have no node. */
    static boolean isSession(SessionId id) {
        return SESSION.matcher(id.value()).matches();
    }

    String session(SessionId id) {
        return sessions + '/' + id;
    }

    String beat(SessionId id) {
        return beats + '/' + id;
    }

    /** The parent of the helper nodes of a session, whose id ends with a random digit. */
    String helper(SessionId id) {
        String text = id.value();
        return helpers + '/' + text.charAt(text.length() - 1) + '/' + text;
    }

    /** The helper nodes that are created with a session, parents first. */
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

    /** The path of the index entry of a waiting or holding claim. */
    String entry(ClaimRef claim, IndexChange.State state) {
        int bucket = (Long.hashCode(claim.claim()) * 0x9E3779B9) >>> 31;
        String session = claim.session().value();
        // Concatenated at once, because composing the path of the bucket first would copy it.
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

    /** The part of the name of an entry after its state, by which entries are ordered, because the state may change. */
    static String claimOf(String entry) {
        return entry.substring(1);
    }

    /** The entry of a node; empty for a node that is not of Holdfast. */
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

    /** The beginning of the path of a piece of mail; ZooKeeper adds a number. */
    String mail(SessionId id) {
        return mailbox(id) + '/' + MAIL;
    }

    /** The path of the node whose name has the data of a piece of mail. */
    String mailContent(SessionId id, byte[] data) {
        return mailbox(id)
                + '/'
                + MAIL_CONTENT
                + Base64.getUrlEncoder().withoutPadding().encodeToString(data);
    }

    /** Whether a node in a mailbox is a piece of mail. */
    static boolean isMail(String node) {
        return node.length() > 1 && node.charAt(0) == MAIL;
    }

    /** The data of a piece of mail in the name of a node; empty if it has none. */
    static Optional<byte[]> mailContent(String node) {
        if (node.isEmpty() || node.charAt(0) != MAIL_CONTENT) {
            return Optional.empty();
        }
        try {
            return Optional.of(Base64.getUrlDecoder().decode(node.substring(1)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Encodes a name without the characters that are special or forbidden in paths. */
    static String encoded(ResourceName name) {
        String value = name.value();
        if (isPlain(value)) {
            return value;
        }
        StringBuilder text = new StringBuilder(value.length() + ROOM_FOR_ESCAPES);
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

    /** Decodes a name; empty for a node that is not of Holdfast. */
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
