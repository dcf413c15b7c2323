package dev.holdfast.store.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import java.util.ArrayList;
import java.util.List;

/**
 * Observes the holders of a lock: whether their holds overlap, and whether their tokens rise. A hold that is valid at
 * the end of a visit was valid all the time; if another visit began during it, two clients had the lock.
 */
final class HoldObserver {

    /** A visit under a hold. */
    final class Visit implements AutoCloseable {
        private final Hold hold;
        private boolean isOverlapped;

        private Visit(Hold hold) {
            this.hold = hold;
        }

        @Override
        public void close() {
            leave(this);
        }
    }

    // Guarded by this.
    private final List<Visit> present = new ArrayList<>();
    private final List<String> violations = new ArrayList<>();
    private long lastToken;
    private int visits;

    synchronized Visit enter(Hold hold, long token) {
        if (token <= lastToken) {
            violations.add("token " + token + " came after " + lastToken);
        }
        lastToken = Math.max(lastToken, token);
        present.forEach(other -> other.isOverlapped = true);
        Visit visit = new Visit(hold);
        present.add(visit);
        visits++;
        return visit;
    }

    private synchronized void leave(Visit visit) {
        present.remove(visit);
        if (visit.isOverlapped && visit.hold.isHeld()) {
            violations.add("another came in while " + visit.hold + " was held");
        }
    }

    synchronized int visits() {
        return visits;
    }

    synchronized void verify() {
        assertThat(violations).isEmpty();
    }
}
