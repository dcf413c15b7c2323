package dev.holdfast.servers;

import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Writes what a server logs to standard output, from INFO on. For servers that run in a JVM of their own, whose system
 * property {@code slf4j.provider} names this class.
 */
public final class ServerLog extends LogProvider {

    /** Called by SLF4J. */
    public ServerLog() {
        super(Line::new);
    }

    private static final class Line extends TextLogger {

        private static final long serialVersionUID = 1L;

        Line(String name) {
            super(name);
        }

        @Override
        protected boolean isEnabled(Level level) {
            return level.toInt() >= Level.INFO.toInt();
        }

        @Override
        protected void log(Level level, String text, @Nullable Throwable thrown) {
            System.out.println(System.currentTimeMillis() + " " + level + " " + name + " " + text);
            if (thrown != null) {
                thrown.printStackTrace(System.out);
            }
        }
    }
}
