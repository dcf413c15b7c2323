package dev.holdfast.store.register;

import java.util.Optional;

/**
 * The record of a resource as the server keeps it.
 *
 * @param state the encoded state; empty where there is no record
 * @param version what the next write compares with; of a missing record, what a creation compares with
 * @param floor no token of a record of this name that was deleted is above it; 0 with {@link
 *     RegisterTraits.Clock#REVISIONS}
 */
public record RegisterRecord(Optional<byte[]> state, RecordVersion version, long floor) {}
