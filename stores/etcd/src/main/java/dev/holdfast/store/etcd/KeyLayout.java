package dev.holdfast.store.etcd;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.etcd.rpc.Range;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.IndexEntry;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The keys, all below a namespace:
 *
 * <ul>
 *   <li>{@code r/<name>}: the record of a resource, without a lease.
 *   <li>{@code s/<session>}: a session or lease, attached to the etcd lease that has its id, like the next two.
 *   <li>{@code m/<session>}: its mailbox, of which each mail is a version.
 *   <li>{@code c/<session>/<claim>/<name>}: its index: whether the claim holds.
 *   <li>{@code n/<session>/<claim>/<name>}: the annotation of a grant: a number of eight octets and a text. Attached to
 *       the lease of the session.
 *   <li>{@code t/<name>}: the history of a scheduled task, without a lease.
 *   <li>{@code a/<length>/<name>/<session>/<claim>}: an announced claim on a resource, attached to the lease of its
 *       session; with the length of the name, because one name may be the beginning of another.
 *   <li>{@code w/turn}: shows that a client has the turn to clean up, attached to its own lease; {@code w/cursor}:
 *       where that turn begins.
 * </ul>
 */
final class KeyLayout {

    private static final byte HELD = 'h';
    private static final byte WAITING = 'w';
    private static final int RADIX = 16;

    private final String root;
    private final int recordNameAt;

    KeyLayout(String namespace) {
        this.root = namespace + "/";
        this.recordNameAt = (root + "r/").getBytes(UTF_8).length;
    }

    byte[] record(ResourceName resource) {
        return key("r/" + resource.value());
    }

    Range records(String prefix) {
        return Range.withPrefix(key("r/" + prefix));
    }

    /** The resource of a record; empty if no resource can have its key. */
    Optional<ResourceName> resource(byte[] record) {
        String name = name(record, UTF_8);
        try {
            return Arrays.equals(key("r/" + name), record) ? Optional.of(new ResourceName(name)) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** The cursor after a record, octet by octet, because its key may not be text. */
    String cursor(byte[] record) {
        return name(record, ISO_8859_1);
    }

    /** The key of the record before a cursor. */
    byte[] recordAt(String cursor) {
        byte[] name = cursor.getBytes(ISO_8859_1);
        byte[] key = Arrays.copyOf(key("r/"), recordNameAt + name.length);
        System.arraycopy(name, 0, key, recordNameAt, name.length);
        return key;
    }

    String name(byte[] record, Charset charset) {
        return new String(record, recordNameAt, record.length - recordNameAt, charset);
    }

    byte[] session(SessionId session) {
        return key("s/" + session.value());
    }

    /** A range with only the key of a session. */
    Range one(SessionId session) {
        return Range.of(session(session));
    }

    byte[] mailbox(SessionId session) {
        return key("m/" + session.value());
    }

    byte[] claim(ClaimRef claim) {
        return claim(
                claim.session(),
                Long.toString(claim.claim(), RADIX) + "/" + claim.resource().value());
    }

    /** The key of an index entry, from its part after the session. */
    byte[] claim(SessionId session, String entry) {
        return key("c/" + session.value() + "/" + entry);
    }

    /** The part of the key of an index entry after its session. */
    String entry(SessionId session, byte[] key) {
        return new String(key, UTF_8).substring(entryAt(session));
    }

    private int entryAt(SessionId session) {
        return root.length() + "c/".length() + session.value().length() + 1;
    }

    Range claims(SessionId session) {
        return Range.withPrefix(key("c/" + session.value() + "/"));
    }

    byte[] annotation(ClaimRef claim) {
        return key("n/" + claim.session().value() + "/" + Long.toString(claim.claim(), RADIX) + "/"
                + claim.resource().value());
    }

    static byte[] annotationValue(long seq, String text) {
        byte[] utf8 = text.getBytes(UTF_8);
        return ByteBuffer.allocate(Long.BYTES + utf8.length)
                .putLong(seq)
                .put(utf8)
                .array();
    }

    static String annotationText(byte[] value) {
        return value.length < Long.BYTES ? "" : new String(value, Long.BYTES, value.length - Long.BYTES, UTF_8);
    }

    byte[] history(ResourceName resource) {
        return key("t/" + resource.value());
    }

    byte[] arrival(ClaimRef claim) {
        return key(arrivalsOf(claim.resource()) + claim.session().value() + "/" + Long.toString(claim.claim(), RADIX));
    }

    Range arrivals(ResourceName resource) {
        return Range.withPrefix(key(arrivalsOf(resource)));
    }

    private static String arrivalsOf(ResourceName resource) {
        return "a/" + resource.value().length() + "/" + resource.value() + "/";
    }

    static byte[] arrivalValue(Arrival arrival) {
        return ByteBuffer.allocate(Long.BYTES + arrival.request().length)
                .putLong(arrival.epoch())
                .put(arrival.request())
                .array();
    }

    Arrival arrival(ResourceName resource, byte[] key, byte[] value) {
        String text = new String(key, UTF_8);
        int claimAt = text.lastIndexOf('/') + 1;
        SessionId session = new SessionId(text.substring(text.lastIndexOf('/', claimAt - 2) + 1, claimAt - 1));
        ClaimRef claim = new ClaimRef(resource, session, Long.parseLong(text.substring(claimAt), RADIX));
        return new Arrival(
                claim, ByteBuffer.wrap(value).getLong(), Arrays.copyOfRange(value, Long.BYTES, value.length));
    }

    byte[] turn() {
        return key("w/turn");
    }

    byte[] cursor() {
        return key("w/cursor");
    }

    /** A key without another use, to check permissions. */
    byte[] probe(SessionId session) {
        return key("p/" + session.value());
    }

    static byte[] claimValue(boolean isHeld) {
        return new byte[] {isHeld ? HELD : WAITING};
    }

    IndexEntry indexEntry(SessionId session, byte[] key, byte[] value) {
        String text = entry(session, key);
        int nameAt = text.indexOf('/') + 1;
        long claim = Long.parseLong(text.substring(0, nameAt - 1), RADIX);
        ResourceName resource = new ResourceName(text.substring(nameAt));
        return new IndexEntry(new ClaimRef(resource, session, claim), value[0] == HELD);
    }

    static SessionId sessionOf(long lease) {
        return new SessionId(HexFormat.of().toHexDigits(lease));
    }

    /** The lease of a session; 0 for an id that etcd can't have issued, for which there are no keys. */
    static long leaseOf(SessionId session) {
        try {
            return session.value().length() == Long.BYTES * 2 ? HexFormat.fromHexDigitsToLong(session.value()) : 0;
        } catch (IllegalArgumentException e) {
            return 0;
        }
    }

    private byte[] key(String rest) {
        return (root + rest).getBytes(UTF_8);
    }
}
