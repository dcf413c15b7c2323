package dev.holdfast.testkit;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Throws unexpected failures at one call of a kind. Calls are counted, and the number selects the kind of throwable. A
 * test that repeats one scenario with the next number each time covers every call. Thread-safe.
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

    /** Throws at calls of this kind only. */
    public FaultInTurn(P place) {
        this.place = place;
    }

    /** Throws at the call of that number from now on, counted from one. */
    public void at(int turn) {
        wasThrown = false;
        number = turn;
        text = "the test says so: " + place + " " + turn + ", fault " + FAULTS.incrementAndGet() + ".";
        left.set(turn);
    }

    /** Stops throwing; returns whether something was thrown. */
    public boolean isOver() {
        left.set(0);
        return wasThrown;
    }

    /** Reports a call; throws if its number has come. */
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

    /** Reports a call and returns whether its number has come; the caller throws. */
    public boolean isTurnOf(P here) {
        boolean isTurn = here == place && left.get() > 0 && left.decrementAndGet() == 0;
        if (isTurn) {
            wasThrown = true;
        }
        return isTurn;
    }

    /** The message of the current throwable. */
    public String text() {
        return text;
    }
}
