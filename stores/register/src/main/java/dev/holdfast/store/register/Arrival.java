package dev.holdfast.store.register;

import dev.holdfast.spi.ClaimRef;

/**
 * A claim that waits beside a record, until a step takes it in: {@link RegisterAdapter#announce}.
 *
 * @param claim the claim; it is announced again only after it was retracted
 * @param epoch the epoch of its session under which it was announced: a step may take it in under no higher one
 * @param request what it asks for; bytes that an adapter keeps and does not read, 1,024 at most
 */
@SuppressWarnings("ArrayRecordComponent") // bytes as the server keeps them; nobody compares two of these
public record Arrival(ClaimRef claim, long epoch, byte[] request) {

    @Override
    public String toString() {
        return claim + " under epoch " + epoch;
    }
}
