package dev.holdfast.store.register.machine;

import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.register.machine.Input.Malformed;
import java.util.Optional;

/** Codec of arrivals: the request of an announced claim, and what a step needs to know of its session. */
public final class ArrivalCodec {

    private static final int VERSION = 1;

    private ArrivalCodec() {}

    /** What a step needs to add an announced claim. */
    record Request(Acquire command, SessionRecord session) {}

    /**
     * Encodes a claim.
     *
     * @param session that of the claim
     */
    public static Arrival encode(Acquire command, SessionRecord session) {
        Output out = new Output();
        out.octet(VERSION);
        out.text(session.label());
        out.number(Micros.roundedUp(session.ttl()));
        ResourceSpec spec = command.spec();
        out.octet(spec.kind().code());
        out.octet(StateCodec.indexOf(StateCodec.ORDERS, spec.order()));
        out.number(spec.capacity());
        out.number(command.weight());
        out.octet(StateCodec.indexOf(StateCodec.BINDINGS, command.lease().binding()));
        out.number(command.lease().length().toSeconds());
        out.number(command.lease().length().toNanosPart());
        out.number(command.tokens());
        return new Arrival(command.claim(), command.epoch(), out.toBytes());
    }

    /** Decodes a claim; empty if it is not one of Holdfast, or of a newer version. */
    static Optional<Request> decode(Arrival arrival) {
        try {
            Input in = new Input(arrival.request());
            if (in.octet() != VERSION) {
                return Optional.empty();
            }
            SessionRecord session = new SessionRecord(arrival.epoch(), in.text(), Micros.duration(in.number()));
            Kind kind = Kind.ofCode((char) in.octet());
            var order = StateCodec.ORDERS[in.number(0, StateCodec.ORDERS.length - 1)];
            ResourceSpec spec = new ResourceSpec(kind, in.number(1, Integer.MAX_VALUE), order);
            int weight = in.number(0, Integer.MAX_VALUE);
            Lease.Binding binding = StateCodec.BINDINGS[in.number(0, StateCodec.BINDINGS.length - 1)];
            Lease lease = new Lease(binding, in.duration());
            int tokens = in.number(1, Integer.MAX_VALUE);
            in.end();
            Acquire command = new Acquire(
                    arrival.claim(), arrival.epoch(), Sending.FIRST, spec, weight, lease, Waiting.QUEUE, tokens);
            return Optional.of(new Request(command, session));
        } catch (Malformed | IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
