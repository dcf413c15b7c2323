package dev.holdfast.store.register;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One atomic write: either all of it happens, or nothing.
 *
 * @param resource whose record is replaced
 * @param expected the version that the record still has
 * @param state the new state; empty to delete the record
 * @param writer the sessions of this client whose epochs are checked in the same step; empty for a command that carries
 *     none
 * @param mail what is put into the mailboxes of other sessions; the write fails if one of them has ended
 * @param indexed claims that begin with this write
 * @param unindexed claims of this client that end with it
 */
public record ConditionalWrite(
        ResourceName resource,
        RecordVersion expected,
        Optional<byte[]> state,
        Map<SessionId, Long> writer,
        Map<SessionId, byte[]> mail,
        List<ClaimRef> indexed,
        List<ClaimRef> unindexed) {}
