package dev.holdfast.spring.integration;

import dev.holdfast.election.Leadership;
import java.util.Optional;
import org.springframework.integration.leader.Context;

/**
 * Presents a term, or none, to Spring Integration.
 *
 * @param role the role of the campaign
 * @param leadership the term; empty if there is none
 */
record TermContext(String role, Optional<Leadership> leadership) implements Context {

    @Override
    public boolean isLeader() {
        return leadership.map(Leadership::isLeader).orElse(false);
    }

    /** Resigns; the candidate queues again behind all others. */
    @Override
    public void yield() {
        leadership.ifPresent(Leadership::resign);
    }

    @Override
    public String getRole() {
        return role;
    }
}
