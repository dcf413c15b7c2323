package dev.holdfast.spring.leader;

import dev.holdfast.Loss;

/**
 * This application leads no longer and has not asked for that: another may lead by now. Published at once on a thread
 * of its own, even while listeners of {@link LeadershipGrantedEvent} run; {@link TermEndedEvent} follows when these are
 * done.
 *
 * @param election the name that was campaigned for
 * @param term the number of the term
 * @param loss why
 */
public record LeadershipRevokedEvent(String election, long term, Loss loss) {}
