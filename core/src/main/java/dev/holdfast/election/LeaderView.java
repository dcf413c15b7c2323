package dev.holdfast.election;

import dev.holdfast.Holdfast;
import java.util.Optional;

/**
 * The leader of an election as an observer sees it.
 *
 * @param term the newest observed term; 0 for none
 * @param leader the label of the client that leads in that term, as the store has recorded it (see {@link
 *     Holdfast.Builder#label(String)}); empty if there is no leader
 */
public record LeaderView(long term, Optional<String> leader) {

    /** The view before the first poll. */
    public static final LeaderView NOBODY = new LeaderView(0, Optional.empty());
}
