package dev.holdfast.testkit.sim;

/** A participant of a run, which requests something and in the end must get it. */
interface Participant {

    /** Begins, or resumes for the final phase; no effect on a busy participant. */
    void begin();

    /** Whether its final request was granted, or its process is dead. */
    boolean isFinished();
}
