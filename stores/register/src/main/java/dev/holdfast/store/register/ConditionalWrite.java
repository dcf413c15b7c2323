package dev.holdfast.store.register;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * One atomic write: either all of it takes effect, or nothing.
 *
 * @param resource whose record is replaced
 * @param expected the version that the record still has
 * @param state the new state; empty to delete the record
 * @param floor of a deletion, the highest token that the record has given out: a server whose records don't number
 *     themselves keeps the highest of these, see {@link RegisterRecord#floor()}
 * @param writers the sessions whose commands these are, each with the epoch that it must not be above; the write fails
 *     if one is above, or has ended
 * @param mail mail for the mailboxes of sessions; the write fails if one of them has ended
 * @param index the changes of index entries, at most one for each claim; the write fails if the session of one
 *     of them has ended
 * @param arrivals the announced claims that it executes, which are removed; the write fails if one of them is missing
 */
public record ConditionalWrite(
        ResourceName resource,
        RecordVersion expected,
        Optional<byte[]> state,
        long floor,
        Map<SessionId, Long> writers,
        Map<SessionId, byte[]> mail,
        List<IndexChange> index,
        List<Arrival> arrivals) {

    /** Copies the collections. */
    public ConditionalWrite {
        writers = Map.copyOf(writers);
        mail = Map.copyOf(mail);
        index = List.copyOf(index);
        arrivals = List.copyOf(arrivals);
    }

    /** The sessions that must live, each once: first the writers, then those with mail, then those of the index. */
    public Set<SessionId> sessions() {
        if (mail.isEmpty() && isIndexOfWriters()) {
            return writers.keySet();
        }
        Set<SessionId> all = new LinkedHashSet<>(writers.keySet());
        all.addAll(mail.keySet());
        index.forEach(change -> all.add(change.claim().session()));
        return all;
    }

    private boolean isIndexOfWriters() {
        for (IndexChange change : index) {
            if (!writers.containsKey(change.claim().session())) {
                return false;
            }
        }
        return true;
    }
}
