package dev.holdfast.store.register;

import dev.holdfast.spi.SessionId;
import java.util.Map;
import java.util.Set;

/** The result of a {@link ConditionalWrite}. */
public sealed interface WriteResult {

    /**
     * All of it was written.
     *
     * @param version the new version of the record, or after a deletion, the one that a creation expects. With {@link
     *     RegisterTraits.Clock#REVISIONS} its incarnation is the base of the tokens
     */
    record Written(RecordVersion version) implements WriteResult {}

    /**
     * Nothing was written, because a condition failed. Unless the record has changed, it reports every session that
     * failed one: a client that learned of one at a time would need a write for each, and by then others would have
     * failed.
     *
     * @param present the record after the comparison, without another request where the server can report it. If it has
     *     the expected version and no session failed, an arrival was missing
     * @param gone the sessions that have ended, among the writers, those that get mail, and those whose index changes
     * @param raised the writers whose epoch is above that of their command, with that epoch
     */
    record Refused(RegisterRecord present, Set<SessionId> gone, Map<SessionId, Long> raised) implements WriteResult {

        /** Copies the collections. */
        public Refused {
            gone = Set.copyOf(gone);
            raised = Map.copyOf(raised);
        }

        /** Whether all sessions met their conditions: the record has changed, or an arrival was missing. */
        public boolean isConflict() {
            return gone.isEmpty() && raised.isEmpty();
        }
    }
}
