package dev.holdfast.spi;

/**
 * A record of a resource that the store can't read. It neither counts as a free resource nor is overwritten.
 *
 * @param name the resource, as far as its name can be read
 * @param reason what is wrong with it, as a {@link StoreException} of the reason {@link StoreException.Reason#CORRUPT}
 *     says it
 */
public record DamagedRecord(String name, String reason) {}
