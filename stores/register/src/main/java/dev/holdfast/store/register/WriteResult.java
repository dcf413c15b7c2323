package dev.holdfast.store.register;

import dev.holdfast.spi.SessionId;

/** The result of a {@link ConditionalWrite}. All but {@link Written} say that nothing was written. */
public sealed interface WriteResult {

    /**
     * All of it was written.
     *
     * @param version the version that it gave the record, or of a deletion, what a creation compares with. With {@link
     *     RegisterTraits.Clock#REVISIONS} its incarnation is the base of the tokens
     */
    record Written(RecordVersion version) implements WriteResult {}

    /**
     * The record had another version, or an arrival was not there.
     *
     * @param present the record after the failed comparison, at no further trip where the server can tell it
     */
    record Conflict(RegisterRecord present) implements WriteResult {}

    /** The epoch of one of the writers is above that of its command. */
    record Stale(SessionId session, long epoch) implements WriteResult {}

    /** A session has ended: a writer, one that had mail, or one whose index was changed. */
    record Gone(SessionId session) implements WriteResult {}
}
