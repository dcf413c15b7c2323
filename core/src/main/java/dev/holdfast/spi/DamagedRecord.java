package dev.holdfast.spi;

/**
 * A record of a resource that a store has and can't read. It is neither taken for a free resource nor overwritten.
 *
 * @param name the resource, as far as its name can be read
 * @param reason what is wrong with it, as a {@link StoreException} of the reason {@link StoreException.Reason#CORRUPT}
 *     says it
 */
public record DamagedRecord(String name, String reason) {}
