package dev.holdfast.spring.leader;

import dev.holdfast.election.Leadership;

/**
 * This application leads from now on. Published on the thread of the candidate, which is interrupted if the term ends
 * meanwhile; a listener that throws ends the term, and the application stands again after a pause.
 *
 * @param election the name that was campaigned for
 * @param leadership the term, whose number goes along with what the leader writes
 */
public record LeadershipGrantedEvent(String election, Leadership leadership) {}
