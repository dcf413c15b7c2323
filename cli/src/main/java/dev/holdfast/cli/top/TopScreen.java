package dev.holdfast.cli.top;

import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.console.StoreSummary;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Draws the screen of {@code top} as lines of text, each no wider than the terminal. */
final class TopScreen {

    /** Lines around the table: two above, its header, one below. */
    private static final int FRAME = 4;

    private static final int LEAST_WIDTH = 40;
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");

    private static final List<String> HELP = List.of(
            "s, S      sort by the next or previous column",
            "r         reverse the order",
            "/         filter by name or process; Enter keeps it, Esc clears it",
            "a, w, h   show all locks, those waited for, those held",
            "j, k      down, up; n, b a page",
            "p         pause and resume",
            "q         quit",
            "",
            "LEASE     what is left of it; ! if it is not renewed",
            "S/MIN     seconds that all claims together waited in the last minute");

    private final int width;
    private final int height;

    TopScreen(int width, int height) {
        this.width = Math.max(LEAST_WIDTH, width);
        this.height = Math.max(FRAME + 1, height);
    }

    /** How many locks fit. */
    int rows() {
        return height - FRAME;
    }

    /** The whole screen; the line with the titles is the third. */
    List<String> draw(String store, StoreSummary summary, TopState state) {
        List<String> lines = new ArrayList<>();
        lines.add(line(headline(store, summary)));
        lines.add(line(attention(summary)));
        if (state.isHelpShown()) {
            lines.add(line("KEYS"));
            HELP.stream().limit(rows()).forEach(text -> lines.add(line(text)));
        } else {
            lines.add(titles(state));
            summary.locks().stream().limit(rows()).forEach(lock -> lines.add(row(lock)));
        }
        while (lines.size() < height - 1) {
            lines.add("");
        }
        lines.add(line(footer(summary, state)));
        return lines;
    }

    private static String headline(String store, StoreSummary summary) {
        String state = summary.problem().isPresent()
                ? "NO ANSWER since"
                : summary.progress() == StoreSummary.Progress.CONNECTING
                        ? "no answer yet,"
                        : "%.1f ms, %d held, %d waiting%s,"
                                .formatted(
                                        summary.roundTrip().toNanos() / 1e6,
                                        summary.holders(),
                                        summary.waiting(),
                                        isComplete(summary) ? "" : " so far");
        return "holdfast top: " + store + ", " + state + " "
                + CLOCK.format(summary.at().atOffset(ZoneOffset.UTC)) + " UTC";
    }

    private static boolean isComplete(StoreSummary summary) {
        return summary.progress() == StoreSummary.Progress.COMPLETE;
    }

    private static String attention(StoreSummary summary) {
        if (summary.problem().isPresent()) {
            return "! " + Printable.escape(summary.problem().get());
        }
        List<String> findings = summary.findings();
        if (summary.progress() == StoreSummary.Progress.CONNECTING) {
            return "Waiting for the first answer of the store.";
        } else if (findings.isEmpty()) {
            return "Nothing needs attention" + (isComplete(summary) ? "." : " so far.");
        }
        String more = findings.size() == 1 ? "" : " (+" + (findings.size() - 1) + ")";
        return "!" + more + " " + Printable.escape(findings.get(0));
    }

    /** The widths of the columns that are not as wide as the rest of the line: those for numbers. */
    private int[] widths() {
        int[] numbers = {0, 0, 7, 7, 5, 8, 6};
        int spaces = numbers.length - 1;
        int rest = width - spaces;
        for (int number : numbers) {
            rest -= number;
        }
        numbers[0] = Math.max(8, rest * 5 / 9);
        numbers[1] = Math.max(0, rest - numbers[0]);
        return numbers;
    }

    private String titles(TopState state) {
        List<String> cells = new ArrayList<>();
        for (TopState.Column column : TopState.Column.values()) {
            String arrow = column == state.column() ? state.isDescending() ? "v" : "^" : "";
            cells.add(arrow + column.title);
        }
        return join(cells.toArray(new String[0]));
    }

    private String row(StoreSummary.Lock lock) {
        String name = lock.mark().isEmpty()
                ? Printable.escape(lock.name())
                : "[" + lock.mark() + "] " + Printable.escape(lock.name());
        return join(
                name,
                lock.holder().isEmpty() && lock.heldFor().isEmpty() ? "-" : Printable.escape(lock.holder()),
                text(lock.heldFor()),
                text(lock.leaseLeft()) + (lock.isDraining() ? "!" : ""),
                lock.waiting() == 0 ? "-" : Long.toString(lock.waiting()),
                text(lock.longestWait()),
                lock.waitedPerMinute() == 0 ? "-" : Long.toString(lock.waitedPerMinute()));
    }

    private static String text(Optional<Duration> duration) {
        return duration.map(DurationText::format).orElse("-");
    }

    private String join(String... cells) {
        int[] widths = widths();
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < cells.length; i++) {
            String cell = TextWidth.cut(cells[i], widths[i]);
            String padding = " ".repeat(widths[i] - TextWidth.of(cell));
            line.append(i == 0 ? "" : " ").append(i < 2 ? cell + padding : padding + cell);
        }
        return line(line.toString());
    }

    private String footer(StoreSummary summary, TopState state) {
        if (state.isTyping()) {
            return "filter: " + Printable.escape(state.filter()) + "_";
        }
        int first = summary.locks().isEmpty() ? 0 : state.offset() + 1;
        String range = first + "-" + (state.offset() + summary.locks().size()) + " of " + summary.total();
        return range
                + (state.show().equals("all") ? "" : " " + state.show())
                + (state.filter().isEmpty() ? "" : " with '" + Printable.escape(state.filter()) + "'")
                + (state.isPaused() ? ", PAUSED" : "")
                + "   q quit  / filter  s sort  r reverse  w waited  ? keys";
    }

    private String line(String text) {
        return TextWidth.cut(text, width).stripTrailing();
    }
}
