package dev.holdfast.testkit.sim;

import dev.holdfast.engine.local.LocalHold;
import java.util.ArrayList;
import java.util.List;

/** What one simulated thread truly waited for and held, and when, in true time. */
final class WaitHistory {

    static final long OPEN = Long.MAX_VALUE;

    /** A span of time; its end is not part of it. */
    record Span(long from, long to) {

        static List<Span> common(List<Span> some, List<Span> others) {
            List<Span> common = new ArrayList<>();
            for (Span one : some) {
                for (Span other : others) {
                    long from = Math.max(one.from, other.from);
                    long to = Math.min(one.to, other.to);
                    if (from < to) {
                        common.add(new Span(from, to));
                    }
                }
            }
            return common;
        }
    }

    /** A wait. */
    static final class Wait {
        final String name;
        final boolean isReader;
        final long from;
        long to = OPEN;
        final List<Span> behindWriter = new ArrayList<>();
        long behindWriterSince = OPEN;

        Wait(String name, boolean isReader, long from) {
            this.name = name;
            this.isReader = isReader;
            this.from = from;
        }

        void noteBehindWriter(boolean is, long now) {
            if (is && behindWriterSince == OPEN) {
                behindWriterSince = now;
            } else if (!is && behindWriterSince != OPEN) {
                behindWriter.add(new Span(behindWriterSince, now));
                behindWriterSince = OPEN;
            }
        }

        /** When every hold of the name blocked it. */
        List<Span> blockedByAll() {
            if (!isReader) {
                return List.of(new Span(from, to));
            }
            List<Span> spans = new ArrayList<>(behindWriter);
            if (behindWriterSince != OPEN) {
                spans.add(new Span(behindWriterSince, OPEN));
            }
            return spans;
        }
    }

    /** A hold. */
    static final class Held {
        final String name;
        final LocalHold hold;
        final boolean isWrite;
        final boolean isLasting;
        final long from;
        long to = OPEN;

        Held(String name, LocalHold hold, boolean isWrite, boolean isLasting, long from) {
            this.name = name;
            this.hold = hold;
            this.isWrite = isWrite;
            this.isLasting = isLasting;
            this.from = from;
        }

        Span span() {
            return new Span(from, to);
        }
    }

    final List<Wait> waits = new ArrayList<>();
    final List<Held> holds = new ArrayList<>();
}
