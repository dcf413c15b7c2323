package dev.holdfast.engine.client;

import dev.holdfast.admin.RecordedRun;
import dev.holdfast.admin.RecordedRun.Outcome;
import dev.holdfast.spi.Command.RecordRun;
import dev.holdfast.spi.Reply.Runs.Run;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;

/**
 * The text of a recorded run, six words: a version, the letter of the outcome, the two times in milliseconds since
 * 1970, and, percent-encoded, the label and the failure. A later version may append words or add letters; if this class
 * couldn't read its text otherwise, it changes the first word.
 */
public final class RunText {

    private static final String VERSION = "1";

    private static final String LETTERS = "sfcl";

    private static final List<Outcome> OUTCOMES =
            List.of(Outcome.SUCCEEDED, Outcome.FAILED, Outcome.CLOSED, Outcome.LOST);

    /** The end of the year 9999: readers need no care for dates that can't be printed or compared. */
    private static final long LAST_MILLIS = 253_402_300_799_999L;

    private RunText() {}

    /** The text of a run; a failure that is too long is left out. */
    public static String of(Outcome outcome, long startMillis, long endMillis, String label, String failure) {
        String head = VERSION + " " + LETTERS.charAt(OUTCOMES.indexOf(outcome)) + " " + startMillis + " " + endMillis
                + " " + encoded(label) + " ";
        String tail = encoded(failure);
        return head.length() + tail.length() <= RecordRun.MAX_RUN_BYTES ? head + tail : head;
    }

    /** Reads a run. What this version can't read is {@link Outcome#UNKNOWN}. */
    public static RecordedRun read(Run run) {
        String[] words = run.text().split(" ", -1);
        try {
            if (words.length >= 6 && words[0].equals(VERSION)) {
                int letter = words[1].length() == 1 ? LETTERS.indexOf(words[1]) : -1;
                return new RecordedRun(
                        run.token(),
                        letter < 0 ? Outcome.UNKNOWN : OUTCOMES.get(letter),
                        time(words[2]),
                        time(words[3]),
                        decoded(words[4]),
                        decoded(words[5]));
            }
        } catch (IllegalArgumentException e) {
            // Written by another version, or damaged.
        }
        return new RecordedRun(run.token(), Outcome.UNKNOWN, null, null, "", "");
    }

    private static Instant time(String word) {
        long millis = Long.parseLong(word);
        if (millis < 0 || millis > LAST_MILLIS) {
            throw new IllegalArgumentException(word);
        }
        return Instant.ofEpochMilli(millis);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
