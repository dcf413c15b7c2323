package dev.holdfast.spring.leader;

import dev.holdfast.Loss;

/**
 * This application has lost its term without resigning: another may lead by now. Published at once on a separate
 * thread, even while listeners of {@link LeadershipGrantedEvent} run; {@link TermEndedEvent} follows when these have
 * returned.
 *
 * @param election the name of the election
 * @param term the number of the term
 * @param loss why
 */
public record LeadershipRevokedEvent(String election, long term, Loss loss) {}
