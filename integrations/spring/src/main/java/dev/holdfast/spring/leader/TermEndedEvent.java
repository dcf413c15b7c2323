package dev.holdfast.spring.leader;

import dev.holdfast.election.TermEnd;

/**
 * A term of this application has ended, for any reason. Published once for each {@link LeadershipGrantedEvent}, after
 * its listeners have returned. After a resignation, the next leader's term begins when the listeners of this event have
 * returned.
 *
 * @param election the name of the election
 * @param term the number of the term
 * @param end how it ended
 */
public record TermEndedEvent(String election, long term, TermEnd end) {}
