package dev.holdfast.spring.leader;

import dev.holdfast.election.TermEnd;

/**
 * A term of this application is over, whatever ended it. Published once for each {@link LeadershipGrantedEvent} and
 * after its listeners; the next leader of a term that was given up begins when the listeners of this have returned.
 *
 * @param election the name that was campaigned for
 * @param term the number of the term
 * @param end how it ended
 */
public record TermEndedEvent(String election, long term, TermEnd end) {}
