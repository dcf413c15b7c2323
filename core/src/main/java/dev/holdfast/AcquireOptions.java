package dev.holdfast;

import dev.holdfast.engine.time.Durations;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.DurationFormat;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/**
 * The options of one acquisition. Immutable; each {@code with} method returns a changed copy.
 *
 * <pre>{@code
 * lock.acquire(AcquireOptions.defaults().withMaxWait(ofSeconds(5)).withMaxHold(ofMinutes(10)));
 * }</pre>
 */
public final class AcquireOptions {

    private static final AcquireOptions DEFAULTS = new AcquireOptions(
            Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    /** The longest message, in bytes of UTF-8. */
    public static final int MAX_MESSAGE_BYTES = 256;

    /** Emoji of several people or parts contain it. */
    private static final int ZERO_WIDTH_JOINER = 0x200d;

    private final Optional<Duration> maxWait;
    private final Optional<Duration> fixedLease;
    private final Optional<Duration> maxHold;
    private final Optional<Duration> detachedLease;
    private final Optional<String> message;

    private AcquireOptions(
            Optional<Duration> maxWait,
            Optional<Duration> fixedLease,
            Optional<Duration> maxHold,
            Optional<Duration> detachedLease,
            Optional<String> message) {
        this.maxWait = maxWait;
        this.fixedLease = fixedLease;
        this.maxHold = maxHold;
        this.detachedLease = detachedLease;
        this.message = message;
    }

    /** Waits without a limit, and is renewed until released. */
    public static AcquireOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Waits for at most this long.
     *
     * @param wait zero (a single attempt) or longer
     * @throws IllegalArgumentException if it is negative
     */
    public AcquireOptions withMaxWait(Duration wait) {
        if (wait.isNegative()) {
            throw new IllegalArgumentException("maxWait must not be negative, but was " + DurationFormat.format(wait));
        }
        return new AcquireOptions(Optional.of(wait), fixedLease, maxHold, detachedLease, message);
    }

    /**
     * The hold is not renewed: it ends after this time, or with the session if that is sooner, unless {@linkplain
     * Hold#extend(Duration) extended}. Such a hold is never handed over within the process.
     *
     * @param lease at least 200 ms, at most a hundred years
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException if a maximum hold time or a detached lease is set
     */
    public AcquireOptions withFixedLease(Duration lease) {
        requireNoOther("fixedLease", lease, "maxHold", maxHold);
        requireNoOther("fixedLease", lease, "detachedLease", detachedLease);
        return new AcquireOptions(maxWait, Optional.of(checked("fixedLease", lease)), maxHold, detachedLease, message);
    }

    /**
     * The hold is renewed, but ends after this time at the latest, even if its owner seems healthy: a bound for a stuck
     * thread. Such a hold is never handed over within the process.
     *
     * @param hold at least 200 ms, at most a hundred years
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException if a fixed or detached lease is set
     */
    public AcquireOptions withMaxHold(Duration hold) {
        requireNoOther("maxHold", hold, "fixedLease", fixedLease);
        requireNoOther("maxHold", hold, "detachedLease", detachedLease);
        return new AcquireOptions(maxWait, fixedLease, Optional.of(checked("maxHold", hold)), detachedLease, message);
    }

    /**
     * The hold is not renewed and outlives its client: it ends after this time, unless {@linkplain
     * Hold#extend(Duration) extended}, even if the process that acquired it dies. For work that another process
     * finishes; see {@link Permits#permitId()}. Such a hold is never handed over within the process.
     *
     * @param lease at least 200 ms, at most a hundred years
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException if a fixed lease or a maximum hold time is set
     */
    public AcquireOptions withDetachedLease(Duration lease) {
        requireNoOther("detachedLease", lease, "fixedLease", fixedLease);
        requireNoOther("detachedLease", lease, "maxHold", maxHold);
        return new AcquireOptions(maxWait, fixedLease, maxHold, Optional.of(checked("detachedLease", lease)), message);
    }

    /**
     * Says what the hold is for, to people who look at the lock: {@code release 4.2, requested by CI job 812}. It is
     * shown with the holder by {@link dev.holdfast.admin.LockAdmin}, by the command and in the messages of others that
     * wait, from shortly after the acquisition on. Costs one more command, which delays nothing. Ignored by a store
     * that can't keep it.
     *
     * @param text one line of 1 to 256 bytes of UTF-8, without control characters
     * @throws IllegalArgumentException if it is something else
     */
    public AcquireOptions withMessage(String text) {
        return new AcquireOptions(maxWait, fixedLease, maxHold, detachedLease, Optional.of(checkedMessage(text)));
    }

    private static String checkedMessage(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        if (text.isBlank() || utf8.length > MAX_MESSAGE_BYTES) {
            throw new IllegalArgumentException("A message must have 1 to " + MAX_MESSAGE_BYTES
                    + " bytes of UTF-8 and not be blank, but has " + utf8.length + " bytes");
        }
        boolean isOneLine = text.codePoints().noneMatch(AcquireOptions::isControl);
        if (!isOneLine || !new String(utf8, StandardCharsets.UTF_8).equals(text)) {
            throw new IllegalArgumentException("A message must be one line without control characters, not '"
                    + ResourceName.printable(text) + "'");
        }
        return text;
    }

    /** Includes line and paragraph separators, and what changes the direction of text: it could hide what is said. */
    private static boolean isControl(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
            case Character.FORMAT -> character != ZERO_WIDTH_JOINER;
            default -> false;
        };
    }

    private static void requireNoOther(String what, Duration asked, String other, Optional<Duration> set) {
        if (set.isPresent()) {
            throw new IllegalStateException(what + " (" + DurationFormat.format(asked) + ") and " + other + " ("
                    + DurationFormat.format(set.get()) + ") can't be combined");
        }
    }

    /** The maximum wait; empty for none. */
    public Optional<Duration> maxWait() {
        return maxWait;
    }

    /** The fixed lease, if any. */
    public Optional<Duration> fixedLease() {
        return fixedLease;
    }

    /** The maximum hold time, if any. */
    public Optional<Duration> maxHold() {
        return maxHold;
    }

    /** The lease that outlives the client, if any. */
    public Optional<Duration> detachedLease() {
        return detachedLease;
    }

    /** What the hold is for, if that is said. */
    public Optional<String> message() {
        return message;
    }

    @Override
    public String toString() {
        return "maxWait=" + maxWait + " fixedLease=" + fixedLease + " maxHold=" + maxHold + " detachedLease="
                + detachedLease + " message=" + message;
    }

    private static Duration checked(String what, Duration lease) {
        return Durations.lease(what, lease);
    }
}
