package dev.holdfast.store.register.machine;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.machine.Input.Malformed;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Codec of mail to one session about one resource: what a step did to the claims of the session, or a claim that
 * another client has announced. Tokens are relative, as in the record.
 */
public final class MailCodec {

    private static final int VERSION = 2;

    /** In place of the version: an arrival follows. */
    private static final int ARRIVAL = 'a';

    private static final int AWAITED = 4;

    /** In the order of their numbers in mail; new ones are added at the end. */
    private static final Notice.Kind[] KINDS = {Notice.Kind.GRANTED, Notice.Kind.CHANGED, Notice.Kind.REVOKED};

    private MailCodec() {}

    /**
     * Encodes notices to one session.
     *
     * @param notices of claims on one resource, at least one
     * @param state the state of the record after the step, which saves the new holder a read; empty to omit it
     */
    public static byte[] encode(List<Notice> notices, byte[] state) {
        Output out = new Output();
        out.octet(VERSION);
        out.text(notices.get(0).claim().resource().value());
        out.number(notices.size());
        for (Notice notice : notices) {
            out.octet(List.of(KINDS).indexOf(notice.kind()) | (notice.awaited() ? AWAITED : 0));
            out.number(notice.claim().claim());
            if (notice.kind() == Notice.Kind.GRANTED) {
                out.number(notice.first());
                out.number(notice.last() - notice.first());
            }
        }
        out.octets(state);
        return out.toBytes();
    }

    /**
     * Encodes an announced claim, which the next write is to add.
     *
     * @param oldest the oldest announced claim of its session that still waits: older ones do not
     */
    public static byte[] encode(Arrival arrival, long oldest) {
        Output out = new Output();
        out.octet(ARRIVAL);
        out.text(arrival.claim().resource().value());
        out.text(arrival.claim().session().value());
        out.number(arrival.claim().claim());
        out.number(arrival.epoch());
        out.octets(arrival.request());
        out.number(oldest);
        return out.toBytes();
    }

    /**
     * Mail to a session.
     *
     * @param resource the resource whose record was written or for which a claim was announced
     * @param notices its notices; tokens are relative to the base of the record that was written with it, which a
     *     step that makes the record does not know
     * @param state the state of the record, if the mail has it
     * @param arrival the announced claim; then no record was written
     * @param oldest the oldest announced claim of its session that still waits
     */
    public record Mail(
            ResourceName resource,
            List<Notice> notices,
            Optional<byte[]> state,
            Optional<Arrival> arrival,
            long oldest) {

        /** Its signals, on the {@linkplain Step#base base} of the record that was written with it. */
        public List<Signal> signals(long base) {
            return notices.stream().map(notice -> signal(notice, base)).toList();
        }
    }

    /**
     * Decodes mail to a session.
     *
     * @throws StoreException if it is not one of Holdfast
     */
    public static Mail decode(SessionId session, byte[] mail) {
        try {
            Input in = new Input(mail);
            int version = in.octet();
            if (version == ARRIVAL) {
                return arrival(in);
            }
            if (version != VERSION) {
                throw new Malformed("it has version " + version);
            }
            ResourceName resource = new ResourceName(in.text());
            List<Notice> notices = new ArrayList<>();
            for (int left = in.number(0, mail.length); left > 0; left--) {
                notices.add(notice(resource, session, in));
            }
            byte[] state = in.octets();
            in.end();
            return new Mail(
                    resource,
                    List.copyOf(notices),
                    state.length == 0 ? Optional.empty() : Optional.of(state),
                    Optional.empty(),
                    0);
        } catch (Malformed | IllegalArgumentException e) {
            throw new StoreException(
                    StoreException.Reason.CORRUPT,
                    StoreException.Effect.NONE,
                    "the mail of session " + session + " can't be read: " + e.getMessage(),
                    e);
        }
    }

    private static Mail arrival(Input in) throws Malformed {
        ResourceName resource = new ResourceName(in.text());
        ClaimRef claim = new ClaimRef(resource, new SessionId(in.text()), in.number());
        Arrival arrival = new Arrival(claim, in.number(), in.octets());
        long oldest = in.number();
        in.end();
        return new Mail(resource, List.of(), Optional.empty(), Optional.of(arrival), oldest);
    }

    private static Notice notice(ResourceName resource, SessionId session, Input in) throws Malformed {
        int flags = in.octet();
        Notice.Kind kind = KINDS[Math.min(flags & 3, KINDS.length - 1)];
        ClaimRef claim = new ClaimRef(resource, session, in.number());
        if (kind != Notice.Kind.GRANTED) {
            return new Notice(claim, kind, 0, 0, false);
        }
        long first = in.number();
        return new Notice(claim, kind, first, first + in.number(), (flags & AWAITED) != 0);
    }

    /** The signal of a notice. */
    public static Signal signal(Notice notice, long base) {
        return switch (notice.kind()) {
            case GRANTED ->
                new Signal.Granted(
                        notice.claim(),
                        new Reply.Granted(
                                Answers.block(base, notice.first(), notice.last()),
                                Optional.empty(),
                                notice.awaited()));
            case CHANGED -> new Signal.Changed(notice.claim());
            case REVOKED -> new Signal.Revoked(notice.claim());
        };
    }
}
