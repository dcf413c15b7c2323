package dev.holdfast.spring.integration;

import dev.holdfast.election.Leadership;
import java.util.Optional;
import org.springframework.integration.leader.Context;

/**
 * One term of a leader, or none, as Spring Integration sees it.
 *
 * @param role the role that is campaigned for
 * @param leadership the term; empty if there is none
 */
record TermContext(String role, Optional<Leadership> leadership) implements Context {

    @Override
    public boolean isLeader() {
        return leadership.map(Leadership::isLeader).orElse(false);
    }

    /** Resigns; the candidate stands again, behind all who wait. */
    @Override
    public void yield() {
        leadership.ifPresent(Leadership::resign);
    }

    @Override
    public String getRole() {
        return role;
    }
}
