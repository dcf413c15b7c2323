package dev.holdfast.engine.execution;

/** Who is notified of a result. */
public enum Audience {
    /** The engine: on the thread that finds the result, before any user. Neither blocks nor calls users' code. */
    ENGINE,
    /** Users: on the executor for their code. */
    USER
}
