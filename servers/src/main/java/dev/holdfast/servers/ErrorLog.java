package dev.holdfast.servers;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * Keeps the errors that are logged, and drops all else, but for what the driver of Redis and its network library say:
 * that goes to {@code java.util.logging}, as it does where there is no SLF4J. For JVMs whose system property
 * {@code slf4j.provider} names this class.
 */
public final class ErrorLog implements SLF4JServiceProvider {

    /** Older ones are dropped: of tests that don't look at them. */
    private static final int KEPT = 1_000;

    private static final Queue<Entry> ERRORS = new ConcurrentLinkedQueue<>();

    private final IMarkerFactory markers = new BasicMarkerFactory();
    private final MDCAdapter context = new NOPMDCAdapter();

    /** Called by SLF4J. */
    public ErrorLog() {}

    /**
     * A line of the log.
     *
     * @param text the message, without the throwable
     * @param thrown what was logged with it; null if nothing was
     */
    public record Entry(String text, @Nullable Throwable thrown) {

        /** Whether this is about what was thrown with that message, itself or as a cause. */
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

    @Override
    public ILoggerFactory getLoggerFactory() {
        return name -> new Errors(name.startsWith("io.") ? java.util.logging.Logger.getLogger(name) : null);
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
        return markers;
    }

    @Override
    public MDCAdapter getMDCAdapter() {
        return context;
    }

    @Override
    public String getRequestedApiVersion() {
        return "2.0.99";
    }

    @Override
    public void initialize() {}

    private static final class Errors extends LegacyAbstractLogger {

        private static final long serialVersionUID = 1L;

        private final transient java.util.logging.@Nullable Logger rest;

        /** @param rest takes all there is; null to drop what is no error */
        Errors(java.util.logging.@Nullable Logger rest) {
            this.name = "errors";
            this.rest = rest;
        }

        @Override
        protected @Nullable String getFullyQualifiedCallerName() {
            return null;
        }

        @Override
        protected void handleNormalizedLoggingCall(
                Level level,
                @Nullable Marker marker,
                String pattern,
                Object @Nullable [] arguments,
                @Nullable Throwable thrown) {
            String text = MessageFormatter.basicArrayFormat(pattern, arguments);
            if (rest != null) {
                rest.log(levelOf(level), text, thrown);
            }
            if (level == Level.ERROR) {
                ERRORS.add(new Entry(text, thrown));
                while (ERRORS.size() > KEPT) {
                    ERRORS.poll();
                }
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

        private boolean isEnabled(Level level) {
            return level == Level.ERROR || (rest != null && rest.isLoggable(levelOf(level)));
        }

        @Override
        public boolean isTraceEnabled() {
            return isEnabled(Level.TRACE);
        }

        @Override
        public boolean isDebugEnabled() {
            return isEnabled(Level.DEBUG);
        }

        @Override
        public boolean isInfoEnabled() {
            return isEnabled(Level.INFO);
        }

        @Override
        public boolean isWarnEnabled() {
            return isEnabled(Level.WARN);
        }

        @Override
        public boolean isErrorEnabled() {
            return true;
        }
    }
}
