package dev.holdfast.servers;

import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

/** A logger that uses only the level and the text, and ignores markers. */
public abstract class TextLogger extends LegacyAbstractLogger {

    private static final long serialVersionUID = 1L;

    protected TextLogger(String name) {
        this.name = name;
    }

    /** Whether what is logged at this level is wanted. */
    protected abstract boolean isEnabled(Level level);

    /** Takes what is logged, without the throwable in the text. */
    protected abstract void log(Level level, String text, @Nullable Throwable thrown);

    @Override
    protected final @Nullable String getFullyQualifiedCallerName() {
        return null;
    }

    @Override
    protected final void handleNormalizedLoggingCall(
            Level level,
            @Nullable Marker marker,
            String pattern,
            Object @Nullable [] arguments,
            @Nullable Throwable thrown) {
        log(level, MessageFormatter.basicArrayFormat(pattern, arguments), thrown);
    }

    @Override
    public final boolean isTraceEnabled() {
        return isEnabled(Level.TRACE);
    }

    @Override
    public final boolean isDebugEnabled() {
        return isEnabled(Level.DEBUG);
    }

    @Override
    public final boolean isInfoEnabled() {
        return isEnabled(Level.INFO);
    }

    @Override
    public final boolean isWarnEnabled() {
        return isEnabled(Level.WARN);
    }

    @Override
    public final boolean isErrorEnabled() {
        return isEnabled(Level.ERROR);
    }
}
