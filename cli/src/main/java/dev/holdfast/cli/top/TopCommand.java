package dev.holdfast.cli.top;

import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.cli.store.LiveStore;
import dev.holdfast.cli.store.StoreLocation;
import dev.holdfast.console.LockConsole;
import dev.holdfast.console.StoreSummary;
import java.time.Duration;
import java.util.List;

/** {@code holdfast top}: redraws the terminal once a second, and at each key. */
public final class TopCommand {

    private static final long INTERVAL_MILLIS = 1_000;

    private static final String HOME = "\u001b[H";
    private static final String REST_OF_LINE = "\u001b[K";
    private static final String REST_OF_SCREEN = "\u001b[J";
    private static final String REVERSE = "\u001b[7m";
    private static final String PLAIN = "\u001b[0m";

    /** Without a terminal, the longest time to read many names. */
    private static final Duration MAX_READING = Duration.ofSeconds(30);

    /** The size of what is printed where there is no terminal. */
    private static final TopScreen PAGE = new TopScreen(120, 504);

    private final StoreLocation location;
    private final Console console;

    public TopCommand(StoreLocation location, Console console) {
        this.location = location;
        this.console = console;
    }

    /**
     * Shows the store until the reader quits; without a terminal, prints its state once.
     *
     * @param isInteractive whether there is a terminal that can be drawn on
     * @return the exit code
     */
    public int run(boolean isInteractive) throws InterruptedException {
        try (LiveStore store = new LiveStore(location);
                LockConsole page = LockConsole.builder(store).build()) {
            if (isInteractive) {
                follow(page);
                return ExitCode.OK;
            }
            return printOnce(page);
        }
    }

    private String title() {
        return location.scheme() + " " + Printable.escape(location.place());
    }

    private int printOnce(LockConsole page) throws InterruptedException {
        TopState state = new TopState();
        StoreSummary summary = readOnce(page, state);
        List<String> lines = PAGE.draw(title(), summary, state);
        int shown = summary.locks().size();
        lines.stream().limit(3L + shown).forEach(console::print);
        if (shown < summary.total()) {
            console.say("these are the first " + shown + " of " + summary.total() + " locks");
        }
        return summary.problem().isPresent() ? ExitCode.STORE_UNAVAILABLE : ExitCode.OK;
    }

    /** Waits until the store has answered or failed, which its time-out bounds, and some time for very many names. */
    private static StoreSummary readOnce(LockConsole page, TopState state) throws InterruptedException {
        long began = System.nanoTime();
        long sequence = 0;
        StoreSummary summary = page.summary(state.parameters(PAGE.rows()));
        while (summary.problem().isEmpty()
                && (summary.progress() == StoreSummary.Progress.CONNECTING
                        || (summary.progress() == StoreSummary.Progress.READING
                                && System.nanoTime() - began < MAX_READING.toNanos()))) {
            sequence = page.awaitChange(sequence, Duration.ofSeconds(1));
            summary = page.summary(state.parameters(PAGE.rows()));
        }
        return summary;
    }

    private void follow(LockConsole page) throws InterruptedException {
        TopState state = new TopState();
        try (TopTerminal terminal = new TopTerminal(console)) {
            while (!state.hasEnded() && console.isPrinted()) {
                TopTerminal.Size size = terminal.size();
                TopScreen screen = new TopScreen(size.width(), size.height());
                StoreSummary summary = page.summary(state.parameters(screen.rows()));
                terminal.print(frame(screen.draw(title(), summary, state)));
                await(terminal, state, screen, summary.total());
            }
        }
    }

    /** Acts on keys until it is time to redraw. While it is paused, only a key redraws, and the store is not polled. */
    private static void await(TopTerminal terminal, TopState state, TopScreen screen, int total)
            throws InterruptedException {
        Integer key = terminal.key(state.isPaused() ? Long.MAX_VALUE : INTERVAL_MILLIS);
        while (key != null) {
            state.key(key, screen.rows(), total);
            key = terminal.key(0);
        }
    }

    private static String frame(List<String> lines) {
        StringBuilder frame = new StringBuilder(HOME);
        for (int i = 0; i < lines.size(); i++) {
            boolean isTitle = i == 2;
            frame.append(isTitle ? REVERSE : "").append(lines.get(i));
            frame.append(REST_OF_LINE).append(isTitle ? PLAIN : "");
            frame.append(i < lines.size() - 1 ? "\r\n" : "");
        }
        return frame.append(REST_OF_SCREEN).toString();
    }
}
