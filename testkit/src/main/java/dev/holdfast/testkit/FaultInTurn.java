package dev.holdfast.testkit;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Throws what nothing should at one call of a kind. Calls are counted; each number has its kind of throwable. A test
 * that tells the same story again and again, with the next number each time, so throws at each call in its turn.
 * Thread-safe.
 *
 * @param <P> the kinds of calls
 */
public final class FaultInTurn<P extends Enum<P>> {

    private static final AtomicInteger FAULTS = new AtomicInteger();

    private final P place;
    private final AtomicInteger left = new AtomicInteger();
    private volatile int number;
    private volatile String text = "";
    private volatile boolean wasThrown;

    /** Something is thrown at calls of this kind, and at no others. */
    public FaultInTurn(P place) {
        this.place = place;
    }

    /** From here on something is thrown at the call of that number, counted from one. */
    public void at(int turn) {
        wasThrown = false;
        number = turn;
        text = "the test says so: " + place + " " + turn + ", fault " + FAULTS.incrementAndGet() + ".";
        left.set(turn);
    }

    /** From here on nothing is thrown any more; tells whether it was. */
    public boolean isOver() {
        left.set(0);
        return wasThrown;
    }

    /** A call of a kind: throws if it is its turn. */
    public void come(P here) {
        if (isTurnOf(here)) {
            switch (number % 4) {
                case 0 -> throw new IllegalStateException(text);
                case 1 -> throw new Error(text);
                case 2 -> throw new AssertionError(text);
                default -> throw new RejectedExecutionException(text);
            }
        }
    }

    /** A call of a kind, where what is thrown is the caller's affair: whether it is its turn. */
    public boolean isTurnOf(P here) {
        boolean isTurn = here == place && left.get() > 0 && left.decrementAndGet() == 0;
        if (isTurn) {
            wasThrown = true;
        }
        return isTurn;
    }

    /** What the present one is known by: the message of what is thrown. */
    public String text() {
        return text;
    }
}
