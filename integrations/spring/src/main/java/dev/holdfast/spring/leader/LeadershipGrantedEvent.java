package dev.holdfast.spring.leader;

import dev.holdfast.election.Leadership;

/**
 * This application leads from now on. Published on the thread of the candidate, which is interrupted if the term ends
 * meanwhile. A listener that throws ends the term, and the application campaigns again after a pause.
 *
 * @param election the name of the election
 * @param leadership the term, whose number every write of the leader must carry
 */
public record LeadershipGrantedEvent(String election, Leadership leadership) {}
