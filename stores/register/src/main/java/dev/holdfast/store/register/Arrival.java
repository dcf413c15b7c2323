package dev.holdfast.store.register;

import dev.holdfast.spi.ClaimRef;

/**
 * An announced claim, which waits for a step that adds it to the record: {@link RegisterAdapter#announce}.
 *
 * @param claim the claim; it is announced again only after it was retracted
 * @param epoch the epoch of its session when it was announced: no step may execute it under a higher one
 * @param request the encoded request, at most 1,024 bytes, which an adapter stores without reading it
 */
@SuppressWarnings("ArrayRecordComponent") // as stored; never compared
public record Arrival(ClaimRef claim, long epoch, byte[] request) {

    @Override
    public String toString() {
        return claim + " under epoch " + epoch;
    }
}
