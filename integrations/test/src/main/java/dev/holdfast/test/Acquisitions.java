package dev.holdfast.test;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.HoldfastListener;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.Kind;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The open acquisitions of clients: those that wait, and those whose hold is not closed. Thread-safe. */
final class Acquisitions implements HoldfastListener {

    private final Set<Acquisition> open = ConcurrentHashMap.newKeySet();

    int waiting(String name) {
        return Math.toIntExact(
                open(name).filter(each -> each.state == State.WAITING).count());
    }

    /** The names that acquisitions wait for and none holds. */
    Stream<String> namesWaitedFor() {
        return open.stream()
                .filter(each -> each.state == State.WAITING)
                .map(each -> each.request.name())
                .filter(name -> open(name).allMatch(each -> each.state == State.WAITING));
    }

    /** Whether an acquisition of this name waits, or has a hold that is not closed. */
    boolean isOpen(String name) {
        return open(name).findAny().isPresent();
    }

    /** Descriptions of the open acquisitions of some kinds. */
    List<String> open(Predicate<Kind> kinds) {
        return open.stream()
                .filter(each -> kinds.test(each.request.kind()))
                .map(Acquisition::text)
                .sorted()
                .toList();
    }

    private Stream<Acquisition> open(String name) {
        return open.stream().filter(each -> each.request.name().equals(name));
    }

    @Override
    public AcquisitionListener onRequested(AcquireRequest request) {
        Acquisition acquisition = new Acquisition(request);
        open.add(acquisition);
        return acquisition;
    }

    private enum State {
        WAITING("has a waiter"),
        HELD("is held"),
        LOST("was lost, but its hold is not closed");

        private final String text;

        State(String text) {
            this.text = text;
        }
    }

    private final class Acquisition implements AcquisitionListener {

        private final AcquireRequest request;
        private volatile State state = State.WAITING;

        Acquisition(AcquireRequest request) {
            this.request = request;
        }

        @Override
        public void onGranted(long token, GrantSource source) {
            state = State.HELD;
        }

        @Override
        public void onNotGranted(WaitEnd how) {
            open.remove(this);
        }

        @Override
        public void onLost(Loss loss) {
            state = State.LOST;
        }

        @Override
        public void onReleased(ReleaseOutcome outcome) {
            open.remove(this);
        }

        private String text() {
            return "'" + request.name() + "' " + state.text;
        }
    }
}
