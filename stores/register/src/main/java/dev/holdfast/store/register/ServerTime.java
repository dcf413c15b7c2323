package dev.holdfast.store.register;

/**
 * The wall clock of a server as a client knows it, in microseconds since 1970. A client knows it from answers, which
 * may be late, so it knows two bounds. A lease begins at the latest time, and has ended when the earliest is past its
 * end. So nothing ends early, however far apart the bounds are.
 *
 * @param earliestMicros the lower bound
 * @param latestMicros the upper bound
 */
public record ServerTime(long earliestMicros, long latestMicros) {

    /** The time of a server without a clock. */
    public static final ServerTime NONE = new ServerTime(0, 0);

    /** @throws IllegalArgumentException if the bounds are in the wrong order */
    public ServerTime {
        if (earliestMicros > latestMicros) {
            throw new IllegalArgumentException(earliestMicros + " is after " + latestMicros);
        }
    }

    /** An exactly known time. */
    public static ServerTime exactly(long micros) {
        return new ServerTime(micros, micros);
    }
}
