package dev.holdfast.servers;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Keeps logged errors and warnings and drops all other lines, except those of Redis' driver and its network library:
 * these go to {@code java.util.logging}, as they do without SLF4J. For JVMs whose system property {@code
 * slf4j.provider} names this class.
 */
public final class ErrorLog extends LogProvider {

    /** Older ones are dropped, which are of tests that don't check them. */
    private static final int KEPT = 1_000;

    private static final Queue<Entry> ERRORS = new ConcurrentLinkedQueue<>();
    private static final Queue<Entry> WARNINGS = new ConcurrentLinkedQueue<>();

    /** Called by SLF4J. */
    public ErrorLog() {
        super(name -> new Errors(name.startsWith("io.") ? java.util.logging.Logger.getLogger(name) : null));
    }

    /**
     * A line of the log.
     *
     * @param text the message, without the throwable
     * @param thrown the throwable logged with it; null if there was none
     */
    public record Entry(String text, @Nullable Throwable thrown) {

        /** Whether the throwable or one of its causes has a message. */
        public boolean isAbout(String message) {
            for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
                if (message.equals(cause.getMessage())) {
                    return true;
                }
            }
            return false;
        }
    }

    /** The errors so far, oldest first. */
    public static List<Entry> errors() {
        return List.copyOf(ERRORS);
    }

    /** The warnings so far, oldest first. */
    public static List<Entry> warnings() {
        return List.copyOf(WARNINGS);
    }

    private static final class Errors extends TextLogger {

        private static final long serialVersionUID = 1L;

        private final transient java.util.logging.@Nullable Logger rest;

        /** @param rest receives all lines; null if nobody else does */
        Errors(java.util.logging.@Nullable Logger rest) {
            super("errors");
            this.rest = rest;
        }

        @Override
        protected boolean isEnabled(Level level) {
            return level == Level.ERROR || level == Level.WARN || (rest != null && rest.isLoggable(levelOf(level)));
        }

        @Override
        protected void log(Level level, String text, @Nullable Throwable thrown) {
            if (rest != null) {
                rest.log(levelOf(level), text, thrown);
            }
            if (level == Level.ERROR) {
                keep(ERRORS, new Entry(text, thrown));
            } else if (level == Level.WARN) {
                keep(WARNINGS, new Entry(text, thrown));
            }
        }

        private static void keep(Queue<Entry> kept, Entry entry) {
            kept.add(entry);
            while (kept.size() > KEPT) {
                kept.poll();
            }
        }

        private static java.util.logging.Level levelOf(Level level) {
            return switch (level) {
                case TRACE -> java.util.logging.Level.FINEST;
                case DEBUG -> java.util.logging.Level.FINE;
                case INFO -> java.util.logging.Level.INFO;
                case WARN -> java.util.logging.Level.WARNING;
                case ERROR -> java.util.logging.Level.SEVERE;
            };
        }
    }
}
