package dev.holdfast.store.register;

/**
 * The wall clock of a server as far as a client knows it, in microseconds since 1970. A client knows a clock from
 * answers, which may be late, so it knows two bounds: what begins now lasts from the latest time on, and what has ended
 * has done so by the earliest. Then nothing ends early, however far apart they are.
 *
 * @param earliestMicros the clock shows no less
 * @param latestMicros the clock shows no more
 */
public record ServerTime(long earliestMicros, long latestMicros) {

    /** Of a server that tells no time. */
    public static final ServerTime NONE = new ServerTime(0, 0);

    /** @throws IllegalArgumentException if the bounds are in the wrong order */
    public ServerTime {
        if (earliestMicros > latestMicros) {
            throw new IllegalArgumentException(earliestMicros + " is after " + latestMicros);
        }
    }

    /** A time that is known exactly. */
    public static ServerTime exactly(long micros) {
        return new ServerTime(micros, micros);
    }
}
