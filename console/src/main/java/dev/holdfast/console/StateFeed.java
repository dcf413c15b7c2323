package dev.holdfast.console;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sends the state of a {@link LockConsole} to many pages, as server-sent events, from one thread for all of them: each
 * gets its view when it has changed, at most once a second, and otherwise a comment every five seconds. A stream ends
 * after five minutes, so that the server authorises its page again.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class StateFeed implements AutoCloseable {

    /** The most streams at a time. */
    public static final int MAX_STREAMS = 50;

    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration COMMENT_EVERY = Duration.ofSeconds(5);
    private static final Duration MAX_LIFE = Duration.ofMinutes(5);

    /** A page that receives events. Its methods don't block; an exception ends its stream. */
    public interface Page {

        /** Whether it can take an event now. If not, it gets the state of a later time. */
        boolean isReady();

        /**
         * Sends an event.
         *
         * @param number of the poll whose result it has
         * @param data without line breaks
         */
        void event(String name, long number, String data);

        /** Sends a comment: finds out whether the page is still there, and keeps proxies from ending the stream. */
        void comment();

        /** Ends the stream. */
        void end();
    }

    private static final class Stream {
        final Map<String, String> parameters;
        final long beganAt = System.nanoTime();
        byte[] sent = {};
        long sentAt = beganAt;

        Stream(Map<String, String> parameters) {
            this.parameters = Map.copyOf(parameters);
        }
    }

    private final LockConsole console;

    @GuardedBy("this")
    private final IdentityHashMap<Page, Stream> streams = new IdentityHashMap<>();

    @GuardedBy("this")
    private @Nullable Thread thread;

    @GuardedBy("this")
    private boolean closed;

    /** A feed of a console, which is left open. */
    public StateFeed(LockConsole console) {
        this.console = console;
    }

    /**
     * Sends the state to one more page, until it is removed.
     *
     * @param parameters those of {@code api/state}
     * @return false if there are too many, or this is closed
     */
    public synchronized boolean add(Map<String, String> parameters, Page page) {
        if (closed || streams.size() >= MAX_STREAMS) {
            return false;
        }
        if (thread == null) {
            Thread starting = new Thread(this::run, "holdfast-console-events");
            starting.setDaemon(true);
            starting.start();
            thread = starting;
        }
        streams.put(page, new Stream(parameters)); // only now: the system may refuse to start a thread
        return true;
    }

    /** The page has gone. */
    public synchronized void remove(Page page) {
        streams.remove(page);
    }

    private void run() {
        long number = 0;
        try {
            while (isUsed()) {
                long began = System.nanoTime();
                Map<Map<String, String>, ConsoleAnswer> answers = new HashMap<>();
                for (Map.Entry<Page, Stream> each : present()) {
                    Stream stream = each.getValue();
                    try {
                        ConsoleAnswer answer = answers.computeIfAbsent(stream.parameters, console::presentState);
                        send(each.getKey(), stream, answer, number);
                    } catch (RuntimeException e) {
                        giveUp(each.getKey()); // and not the others
                    }
                }
                number = console.awaitChange(number, COMMENT_EVERY);
                pauseUntil(began + INTERVAL.toNanos());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            ended();
        }
    }

    private synchronized boolean isUsed() {
        if (closed || streams.isEmpty()) {
            thread = null;
            return false;
        }
        return true;
    }

    /**
     * The next page needs another thread, unless one has started since this one saw that there is none. If this one
     * failed, nobody else would find out that a page has gone.
     */
    private void ended() {
        List<Map.Entry<Page, Stream>> left;
        synchronized (this) {
            if (thread != Thread.currentThread()) {
                return;
            }
            thread = null;
            left = present();
        }
        left.forEach(each -> giveUp(each.getKey()));
    }

    private synchronized List<Map.Entry<Page, Stream>> present() {
        return List.copyOf(streams.entrySet());
    }

    private void send(Page page, Stream stream, ConsoleAnswer answer, long number) {
        long now = System.nanoTime();
        try {
            if (now - stream.beganAt >= MAX_LIFE.toNanos()) {
                end(page);
            } else if (!page.isReady()) {
                return;
            } else if (answer.status() != 200) {
                page.event("problem", number, answer.text());
                end(page);
            } else if (!Arrays.equals(answer.body(), stream.sent)) {
                page.event("state", number, answer.text());
                stream.sent = answer.body();
                stream.sentAt = now;
            } else if (now - stream.sentAt >= COMMENT_EVERY.toNanos()) {
                page.comment();
                stream.sentAt = now;
            }
        } catch (RuntimeException e) {
            remove(page);
        }
    }

    private void end(Page page) {
        remove(page);
        page.end();
    }

    private void giveUp(Page page) {
        try {
            end(page);
        } catch (RuntimeException e) {
            remove(page);
        }
    }

    private synchronized void pauseUntil(long nanos) throws InterruptedException {
        long rest;
        while (!closed && (rest = nanos - System.nanoTime()) > 0) {
            wait((rest + 999_999) / 1_000_000);
        }
    }

    /** Ends all streams, and starts no more. */
    @Override
    public void close() {
        List<Map.Entry<Page, Stream>> ended;
        synchronized (this) {
            closed = true;
            ended = present();
            if (thread != null) {
                thread.interrupt(); // it may wait for news
            }
            notifyAll();
        }
        ended.forEach(each -> giveUp(each.getKey()));
    }
}
