package dev.holdfast.store.ledger.runtime;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.TokenBlock;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;

/** Codec of signals as lines of text: a letter for the kind, then its parts, then the name's bytes in hexadecimal. */
public final class SignalCodec {

    private static final HexFormat HEX = HexFormat.of();

    private SignalCodec() {}

    public static String of(Signal signal) {
        if (signal instanceof Signal.Granted granted) {
            TokenBlock tokens = granted.grant().tokens();
            return "g " + text(granted.claim()) + " " + tokens.first() + " " + tokens.last() + " "
                    + granted.grant().awaited();
        } else if (signal instanceof Signal.Changed changed) {
            return "c " + text(changed.claim());
        } else if (signal instanceof Signal.Revoked revoked) {
            return "r " + text(revoked.claim());
        } else if (signal instanceof Signal.SessionEnded ended) {
            return "e " + ended.session();
        }
        return "p";
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
                default -> Optional.empty();
            };
        } catch (RuntimeException malformed) {
            return Optional.empty();
        }
    }

    private static String text(ClaimRef claim) {
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
