package dev.holdfast.engine.deadlock;

import dev.holdfast.spi.ResourceName;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A wait of a thread that holds something, as its client states it in the annotation of each of its grants: a line of
 * text, whose first field is the version.
 *
 * @param id the identity of the wait, unique for ever
 * @param awaits the name that the thread waits for
 * @param blocking which holds of that name block it
 * @param isWriteHold whether the hold under the annotated grant excludes all others
 * @param token the fencing token of that hold
 * @param thread the name of the thread
 * @param order greater than that of all waits that its client had read when it stated this one: no clock decides which
 *     wait is the youngest
 * @param waitedMillis how long it had lasted when its client stated it; for people
 * @param mayFail whether its client ends it if it is chosen
 * @param acks the ids of the waits that its client had read before it found this wait still going on
 */
public record WaitLine(
        long id,
        String awaits,
        Blocking blocking,
        boolean isWriteHold,
        long token,
        String thread,
        long order,
        long waitedMillis,
        boolean mayFail,
        Set<Long> acks) {

    /** Which holds of a name block a wait for it. */
    public enum Blocking {
        /** Every hold: it is a writer's, or for a mutex. */
        ALL("x"),
        /** Every hold, since it is a reader's and a writer is before it. */
        ALL_BEHIND_WRITER("w"),
        /** Only write holds: it is a reader's. */
        WRITERS("r");

        private final String code;

        Blocking(String code) {
            this.code = code;
        }

        boolean isExclusive() {
            return this != WRITERS;
        }
    }

    private static final String VERSION = "1";
    private static final int FIELDS = 11;
    private static final int RADIX = 36;
    private static final int MAX_THREAD = 40;
    private static final char DELETE = 0x7f;

    /** The most acknowledgements in a line, which bounds its length: a larger cycle is not found. */
    static final int MAX_ACKS = 32;

    /** The line, without a line break. */
    public String format() {
        return String.join(
                " ",
                VERSION,
                number(id),
                blocking.code,
                isWriteHold ? "x" : "r",
                number(token),
                number(order),
                number(waitedMillis),
                mayFail ? "f" : "-",
                encode(awaits),
                encode(cut(thread)),
                acks.stream().map(WaitLine::number).collect(Collectors.joining(",", "-", "")));
    }

    /** Reads a line; empty if it is not one of this version. */
    public static Optional<WaitLine> parse(String line) {
        String[] fields = line.split(" ", -1);
        if (fields.length != FIELDS || !fields[0].equals(VERSION)) {
            return Optional.empty();
        }
        try {
            return Optional.of(new WaitLine(
                    number(fields[1]),
                    new ResourceName(decode(fields[8])).value(),
                    blocking(fields[2]),
                    fields[3].equals("x"),
                    number(fields[4]),
                    decode(fields[9]),
                    number(fields[5]),
                    number(fields[6]),
                    fields[7].equals("f"),
                    acks(fields[10])));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static Blocking blocking(String code) {
        for (Blocking blocking : Blocking.values()) {
            if (blocking.code.equals(code)) {
                return blocking;
            }
        }
        throw new IllegalArgumentException("unknown code '" + code + "'");
    }

    private static Set<Long> acks(String field) {
        Set<Long> acks = new LinkedHashSet<>();
        if (field.length() > 1) {
            for (String ack : field.substring(1).split(",", -1)) {
                acks.add(number(ack));
            }
        }
        return acks;
    }

    private static String number(long number) {
        return Long.toUnsignedString(number, RADIX);
    }

    private static long number(String text) {
        return Long.parseUnsignedLong(text, RADIX);
    }

    /** Cut before half of a character. */
    private static String cut(String thread) {
        int end = Math.min(thread.length(), MAX_THREAD);
        return thread.substring(0, end > 0 && Character.isHighSurrogate(thread.charAt(end - 1)) ? end - 1 : end);
    }

    /** Escapes as in a URI, but only what would end a field or a line: a name may have 512 bytes. */
    private static String encode(String text) {
        StringBuilder encoded = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char each = text.charAt(i);
            if (each <= ' ' || each == '%' || each == '+' || each == DELETE) {
                encoded.append('%').append(Character.forDigit(each >> 4, 16)).append(Character.forDigit(each & 15, 16));
            } else {
                encoded.append(each);
            }
        }
        return encoded.toString();
    }

    private static String decode(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
