package dev.holdfast.engine.wire;

import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;

/** A store that breaks its contract. */
public final class ProtocolViolation {

    private ProtocolViolation() {}

    public static StoreException reply(Reply reply) {
        return new StoreException(
                StoreException.Reason.UNAVAILABLE,
                StoreException.Effect.UNKNOWN,
                "the store gave an answer that does not fit the command: "
                        + reply.getClass().getSimpleName(),
                null);
    }
}
