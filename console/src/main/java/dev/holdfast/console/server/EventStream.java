package dev.holdfast.console.server;

import dev.holdfast.console.ConsoleAnswer;
import dev.holdfast.console.LockConsole;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Sends the state of one view to one page, as server-sent events: when it has changed, at most once a second. */
final class EventStream {

    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration COMMENT_EVERY = Duration.ofSeconds(5);

    private final LockConsole console;
    private final Map<String, String> parameters;
    private final OutputStream out;

    EventStream(LockConsole console, Map<String, String> parameters, OutputStream out) {
        this.console = console;
        this.parameters = parameters;
        this.out = out;
    }

    /** Sends until the page has gone, or the cookie has ended. */
    void send(BooleanSupplier isAllowed) throws IOException, InterruptedException {
        write("retry: 5000\n\n");
        byte[] sent = {};
        long number = 0;
        while (isAllowed.getAsBoolean()) {
            long began = System.nanoTime();
            ConsoleAnswer state = console.get("api/state", parameters);
            if (state.status() != 200) {
                write("event: problem\ndata: " + state.text() + "\n\n");
                return;
            }
            if (!Arrays.equals(state.body(), sent)) {
                sent = state.body();
                write("id: " + number + "\nevent: state\ndata: " + state.text() + "\n\n");
            } else {
                write(":\n\n"); // finds out whether the page is still there
            }
            number = console.awaitChange(number, COMMENT_EVERY);
            long rest = INTERVAL.toNanos() - (System.nanoTime() - began);
            if (rest > 0) {
                Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
            }
        }
    }

    private void write(String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }
}
