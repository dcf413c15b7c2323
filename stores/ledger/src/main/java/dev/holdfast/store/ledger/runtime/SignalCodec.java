package dev.holdfast.store.ledger.runtime;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.SignalHandler;
import dev.holdfast.spi.TokenBlock;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;

/** Encodes signals as lines of text: a letter for the kind, then its parts, then the name's bytes in hexadecimal. */
public final class SignalCodec {

    private static final HexFormat HEX = HexFormat.of();

    private SignalCodec() {}

    /** The line of a signal. */
    public static String of(Signal signal) {
        Line line = new Line();
        signal.accept(line);
        return line.text;
    }

    private static final class Line implements SignalHandler {

        private String text = "";

        @Override
        public void granted(Signal.Granted signal) {
            TokenBlock tokens = signal.grant().tokens();
            text = "g " + claimText(signal.claim()) + " " + tokens.first() + " " + tokens.last() + " "
                    + signal.grant().awaited();
        }

        @Override
        public void changed(Signal.Changed signal) {
            text = "c " + claimText(signal.claim());
        }

        @Override
        public void revoked(Signal.Revoked signal) {
            text = "r " + claimText(signal.claim());
        }

        @Override
        public void sessionEnded(Signal.SessionEnded signal) {
            text = "e " + signal.session();
        }

        /** Without the partition: a ledger has only one. */
        @Override
        public void resubscribed(Signal.Resubscribed signal) {
            text = "p";
        }

        /** Likewise. */
        @Override
        public void failedOver(Signal.FailedOver signal) {
            text = "f";
        }
    }

    /** The signal of a line; empty if the line is not one that we know. */
    public static Optional<Signal> signal(String line) {
        String[] parts = line.split(" ", -1);
        try {
            return switch (parts[0]) {
                case "g" -> Optional.of(new Signal.Granted(claim(parts), granted(parts)));
                case "c" -> Optional.of(new Signal.Changed(claim(parts)));
                case "r" -> Optional.of(new Signal.Revoked(claim(parts)));
                case "e" -> Optional.of(new Signal.SessionEnded(new SessionId(parts[1])));
                case "p" -> Optional.of(new Signal.Resubscribed());
                case "f" -> Optional.of(new Signal.FailedOver());
                default -> Optional.empty();
            };
        } catch (RuntimeException malformed) {
            return Optional.empty();
        }
    }

    private static String claimText(ClaimRef claim) {
        return claim.session() + " " + claim.claim() + " "
                + HEX.formatHex(claim.resource().utf8());
    }

    private static ClaimRef claim(String[] parts) {
        String name = new String(HEX.parseHex(parts[3]), StandardCharsets.UTF_8);
        return new ClaimRef(new ResourceName(name), new SessionId(parts[1]), Long.parseLong(parts[2]));
    }

    private static Reply.Granted granted(String[] parts) {
        TokenBlock tokens = new TokenBlock(Long.parseLong(parts[4]), Long.parseLong(parts[5]));
        return new Reply.Granted(tokens, Optional.empty(), Boolean.parseBoolean(parts[6]));
    }
}
