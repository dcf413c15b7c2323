package dev.holdfast.election;

import dev.holdfast.Holdfast;
import java.util.Optional;

/**
 * What an observer sees of an election.
 *
 * @param term the newest term that was seen; 0 if none was
 * @param leader the label of the client that leads in that term, as the store has recorded it (see {@link
 *     Holdfast.Builder#label(String)}): what a candidate says about itself; empty if nobody leads
 */
public record LeaderView(long term, Optional<String> leader) {

    /** The view before anything was seen. */
    public static final LeaderView NOBODY = new LeaderView(0, Optional.empty());
}
