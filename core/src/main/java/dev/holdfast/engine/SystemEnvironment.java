package dev.holdfast.engine;

/** The system's time, threads and randomness. */
public final class SystemEnvironment {

    private SystemEnvironment() {}

    /** Who this process is, for people. */
    public static String processLabel() {
        return Engine.under();
    }
}
