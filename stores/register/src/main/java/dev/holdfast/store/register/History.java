package dev.holdfast.store.register;

import java.util.Optional;

/**
 * The history of a name, which is kept apart from its record.
 *
 * @param content as it was last {@linkplain RegisterAdapter#replaceHistory written}; empty if it never was
 * @param version identifies that write
 */
public record History(Optional<byte[]> content, long version) {}
