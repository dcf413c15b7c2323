package dev.holdfast.store.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import java.util.ArrayList;
import java.util.List;

/**
 * Sees who holds a lock at the same time, and whether tokens rise. A holder who is still valid when it leaves was so
 * all the time; if another came in meanwhile, two had the lock.
 */
final class Witness {

    /** Somebody inside. */
    final class Visit implements AutoCloseable {
        private final Hold hold;
        private boolean hasMet;

        private Visit(Hold hold) {
            this.hold = hold;
        }

        @Override
        public void close() {
            leave(this);
        }
    }

    // Guarded by this.
    private final List<Visit> inside = new ArrayList<>();
    private final List<String> violations = new ArrayList<>();
    private long lastToken;
    private int visits;

    synchronized Visit enter(Hold hold, long token) {
        if (token <= lastToken) {
            violations.add("token " + token + " came after " + lastToken);
        }
        lastToken = Math.max(lastToken, token);
        inside.forEach(other -> other.hasMet = true);
        Visit visit = new Visit(hold);
        inside.add(visit);
        visits++;
        return visit;
    }

    private synchronized void leave(Visit visit) {
        inside.remove(visit);
        if (visit.hasMet && visit.hold.isHeld()) {
            violations.add("another came in while " + visit.hold + " was held");
        }
    }

    synchronized int visits() {
        return visits;
    }

    synchronized void sawNothingWrong() {
        assertThat(violations).isEmpty();
    }
}
