package dev.holdfast.store.register;

import java.util.Optional;

/**
 * The record of a resource as the server keeps it.
 *
 * @param state the encoded state; empty where there is no record
 * @param version the version that the next write expects; of a missing record, the one that a creation expects
 * @param floor an upper bound of the tokens of deleted records of this name; 0 with {@link
 *     RegisterTraits.Clock#REVISIONS}
 */
public record RegisterRecord(Optional<byte[]> state, RecordVersion version, long floor) {}
