package dev.holdfast.testkit.sim;

/** Somebody in a run who wants something, and in the end must have got it. */
interface Participant {

    /** Begins, or goes on when everybody is to be served; without effect on who is busy. */
    void begin();

    /** Whether it has got what it wanted in the end, or is dead. */
    boolean isFinished();
}
