package dev.holdfast.store.redis;

import dev.holdfast.servers.TextLogger;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/** Keeps what is logged, each line behind its level. */
final class RecordingLog extends TextLogger {

    private static final long serialVersionUID = 1L;

    private final transient List<String> lines = new CopyOnWriteArrayList<>();

    RecordingLog() {
        super("recording");
    }

    List<String> lines() {
        return lines;
    }

    @Override
    protected boolean isEnabled(Level level) {
        return true;
    }

    @Override
    protected void log(Level level, String text, @Nullable Throwable thrown) {
        lines.add(level + " " + text);
    }
}
