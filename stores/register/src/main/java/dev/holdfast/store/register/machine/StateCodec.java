package dev.holdfast.store.register.machine;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.machine.Input.Malformed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Codec of states: compact, with a version in the third octet. An unknown or damaged state is refused and never
 * overwritten.
 *
 * <p>One state has one encoding, so two that are encoded alike are equal.
 */
final class StateCodec {

    /** The most by which a claim or a counted id lengthens a state: session ids and labels have up to 256 bytes. */
    static final int MAX_CLAIM_BYTES = 1_024;

    private static final int MAGIC_1 = 'h';
    private static final int MAGIC_2 = 'f';
    private static final int VERSION = 1;

    private static final int HAS_SPEC = 1;
    private static final int HAS_LATCH = 2;

    private static final int PICKED_UP = 4;
    private static final int HAS_LEASE_ID = 8;
    private static final int HAS_END = 16;

    /**
     * Added to the time at which a waiting claim was queued, which a record has in place of the end of its lease. An
     * earlier version takes it for an end in the distant future, and keeps it when it grants the claim.
     */
    private static final long QUEUED = 1L << 55;

    /** In the order of their numbers in a record, like the bindings below. Add new ones at the end. */
    static final Order[] ORDERS = {Order.FAIR, Order.BARGING};

    static final Lease.Binding[] BINDINGS = {Lease.Binding.SESSION, Lease.Binding.BOUNDED, Lease.Binding.DETACHED};

    private StateCodec() {}

    static byte[] encode(ResourceState state) {
        Output out = new Output();
        out.octet(MAGIC_1);
        out.octet(MAGIC_2);
        out.octet(VERSION);
        ResourceSpec spec = state.declared;
        LatchState latch = state.latch;
        out.octet((spec == null ? 0 : HAS_SPEC) | (latch == null ? 0 : HAS_LATCH));
        out.number(state.lastToken);
        if (latch != null) {
            latch(out, latch);
        }
        if (spec != null) {
            out.octet(spec.kind().code());
            out.octet(indexOf(ORDERS, spec.order()));
            out.number(spec.capacity());
            out.number(state.capacity);
            Map<SessionEntry, Integer> sessions = sessions(out, state);
            out.number(state.grants.size());
            out.number(state.queue.size());
            state.forEach(claim -> claim(out, claim, sessions, state.lastToken));
        }
        return out.toBytes();
    }

    private static void latch(Output out, LatchState latch) {
        out.number(latch.generation);
        out.number(latch.remaining);
        out.number(latch.counted.size());
        latch.counted.forEach(out::text);
    }

    private static Map<SessionEntry, Integer> sessions(Output out, ResourceState state) {
        Map<SessionEntry, Integer> numbers = numbers(state);
        out.number(numbers.size());
        for (SessionEntry session : numbers.keySet()) {
            out.text(session.id().value());
            out.text(session.label());
            out.number(session.ttlMicros());
        }
        return numbers;
    }

    private static Map<SessionEntry, Integer> numbers(ResourceState state) {
        if (state.parties() == 1) {
            return Map.of(state.first().session, 0);
        }
        Map<SessionEntry, Integer> numbers = new LinkedHashMap<>();
        state.forEach(claim -> numbers.putIfAbsent(claim.session, numbers.size()));
        return numbers;
    }

    private static void claim(Output out, ClaimEntry claim, Map<SessionEntry, Integer> sessions, long lastToken) {
        SessionId leaseId = claim.leaseId;
        long end = claim.isHeld() || claim.queuedAt == 0 ? claim.endsAt : QUEUED + claim.queuedAt;
        out.octet(indexOf(BINDINGS, claim.lease.binding())
                | (claim.pickedUp ? PICKED_UP : 0)
                | (leaseId == null ? 0 : HAS_LEASE_ID)
                | (end == 0 ? 0 : HAS_END));
        out.number(sessions.getOrDefault(claim.session, -1));
        out.number(claim.ref.claim());
        out.number(claim.weight);
        if (claim.isHeld()) {
            out.number(lastToken - claim.last);
            out.number(claim.last - claim.first);
        } else {
            out.number(claim.want);
        }
        if (claim.hasOwnLease()) {
            out.number(claim.lease.length().toSeconds());
            out.number(claim.lease.length().toNanosPart());
            out.number(claim.extension);
        }
        if (leaseId != null) {
            out.text(leaseId.value());
        }
        if (end != 0) {
            out.number(end);
        }
    }

    static int indexOf(Object[] values, Object value) {
        for (int i = 0; i < values.length; i++) {
            if (values[i] == value) {
                return i;
            }
        }
        throw new IllegalArgumentException("There is no number for " + value);
    }

    /**
     * Decodes a state.
     *
     * @throws StoreException if it is not a state
     */
    static ResourceState decode(ResourceName name, byte[] bytes) {
        try {
            Input in = new Input(bytes);
            if (in.octet() != MAGIC_1 || in.octet() != MAGIC_2) {
                throw new Malformed("it does not begin like a record");
            }
            int version = in.octet();
            if (version != VERSION) {
                throw new Malformed("it has version " + version + ", but this program supports " + VERSION);
            }
            ResourceState state = decode(name, in);
            in.end();
            return state;
        } catch (Malformed | IllegalArgumentException e) {
            throw new StoreException(
                    StoreException.Reason.CORRUPT,
                    StoreException.Effect.NONE,
                    "the record of lock '" + name + "' was not written by Holdfast or is damaged: " + e.getMessage(),
                    e);
        }
    }

    private static ResourceState decode(ResourceName name, Input in) throws Malformed {
        ResourceState state = new ResourceState(name);
        int flags = in.octet();
        state.lastToken = in.number();
        if ((flags & HAS_LATCH) != 0) {
            LatchState latch = new LatchState();
            latch.generation = in.number();
            latch.remaining = in.number();
            for (int left = in.number(0, Integer.MAX_VALUE); left > 0; left--) {
                latch.counted.add(in.text());
            }
            state.latch = latch;
        }
        if ((flags & HAS_SPEC) != 0) {
            Kind kind = Kind.ofCode((char) in.octet());
            Order order = ORDERS[in.number(0, ORDERS.length - 1)];
            state.declared = new ResourceSpec(kind, in.number(1, Integer.MAX_VALUE), order);
            state.capacity = in.number(1, Integer.MAX_VALUE);
            List<SessionEntry> sessions = sessions(in);
            int grants = in.number(0, Integer.MAX_VALUE);
            int waiters = in.number(0, Integer.MAX_VALUE);
            for (int i = 0; i < grants; i++) {
                ClaimEntry claim = claim(in, state, sessions, true);
                state.grants.put(claim.ref, claim);
            }
            for (int i = 0; i < waiters; i++) {
                ClaimEntry claim = claim(in, state, sessions, false);
                state.queue.put(claim.ref, claim);
            }
        }
        return state;
    }

    private static List<SessionEntry> sessions(Input in) throws Malformed {
        List<SessionEntry> sessions = new ArrayList<>(1);
        for (int left = in.number(0, Integer.MAX_VALUE); left > 0; left--) {
            sessions.add(new SessionEntry(new SessionId(in.text()), in.text(), in.number()));
        }
        return sessions;
    }

    private static ClaimEntry claim(Input in, ResourceState state, List<SessionEntry> sessions, boolean isHeld)
            throws Malformed {
        int flags = in.octet();
        Lease.Binding binding = binding(flags & 3);
        SessionEntry session = sessions.get(in.number(0, sessions.size() - 1));
        ClaimRef ref = new ClaimRef(state.name, session.id(), in.number());
        int weight = in.number(0, Integer.MAX_VALUE);
        long last = isHeld ? state.lastToken - in.number() : 0;
        long first = isHeld ? last - in.number() : 0;
        int want = isHeld ? 1 : in.number(1, Integer.MAX_VALUE);
        boolean hasOwnLease = binding != Lease.Binding.SESSION;
        Duration length = hasOwnLease ? in.duration() : Duration.ZERO;
        ClaimEntry claim = new ClaimEntry(ref, session, new Lease(binding, length), weight, want);
        claim.first = first;
        claim.last = last;
        claim.pickedUp = (flags & PICKED_UP) != 0;
        claim.extension = hasOwnLease ? in.number() : 0;
        claim.leaseId = (flags & HAS_LEASE_ID) != 0 ? new SessionId(in.text()) : null;
        long end = (flags & HAS_END) != 0 ? in.number() : 0;
        if (end < QUEUED) {
            claim.endsAt = end;
        } else if (!isHeld) {
            claim.queuedAt = end - QUEUED;
        }
        return claim;
    }

    private static Lease.Binding binding(int number) throws Malformed {
        if (number >= BINDINGS.length) {
            throw new Malformed("there is no binding " + number);
        }
        return BINDINGS[number];
    }
}
