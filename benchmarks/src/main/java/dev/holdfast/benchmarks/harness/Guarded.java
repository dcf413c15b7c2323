package dev.holdfast.benchmarks.harness;

import static dev.holdfast.benchmarks.harness.Contestant.Mutex.NO_TOKEN;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * What a lock protects in a measurement: plain words in memory, or in a file that several processes map. Two owners at
 * once would tear the counter or meet inside, and no token may be as small as the one before. Entered and left by the
 * owner of the lock alone.
 */
public final class Guarded implements Crew.Inside {

    private static final int INSIDE = 0;
    private static final int COUNT = 8;
    private static final int TOKEN = 16;
    private static final int MEETINGS = 24;
    private static final int STALE = 32;
    private static final int LAST_OWNER = 40;
    private static final int LEFT_AT = 48;
    private static final int SIZE = 64;

    private final ByteBuffer words;

    private Guarded(ByteBuffer words) {
        this.words = words.order(ByteOrder.nativeOrder());
    }

    /** For one process. */
    public static Guarded inMemory() {
        return new Guarded(ByteBuffer.allocateDirect(SIZE));
    }

    /** For the processes that name the same directory. */
    public static Guarded inFile(Path place) {
        try (FileChannel channel = FileChannel.open(
                place.resolve("guarded"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            return new Guarded(channel.map(FileChannel.MapMode.READ_WRITE, 0, SIZE));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void enter(long token) {
        if (words.getLong(INSIDE) != 0) {
            increment(MEETINGS);
        }
        words.putLong(INSIDE, 1);
        if (token != NO_TOKEN) {
            if (token <= words.getLong(TOKEN)) {
                increment(STALE);
            }
            words.putLong(TOKEN, token);
        }
    }

    @Override
    public void leave() {
        increment(COUNT);
        words.putLong(INSIDE, 0);
    }

    /** Notes who leaves, and when; for {@link #lastOwner()} and {@link #leftAt()}. */
    public void leave(long owner) {
        leave();
        words.putLong(LAST_OWNER, owner);
        words.putLong(LEFT_AT, System.nanoTime());
    }

    public long lastOwner() {
        return words.getLong(LAST_OWNER);
    }

    public long leftAt() {
        return words.getLong(LEFT_AT);
    }

    private void increment(int word) {
        words.putLong(word, words.getLong(word) + 1);
    }

    /** Tells what is wrong, once all threads and processes have ended that passed. */
    public void check(long passes, Sheet sheet) {
        check(List.of(this), passes, sheet);
    }

    /** As {@link #check(long, Sheet)}, for things that have a lock each. */
    public static void check(List<Guarded> all, long passes, Sheet sheet) {
        expect(sum(all, COUNT), passes, " passes were counted under the lock, of ", passes, sheet);
        expect(sum(all, MEETINGS), 0, " owners met another one inside, in passes: ", passes, sheet);
        expect(sum(all, STALE), 0, " tokens were not above the one before, in passes: ", passes, sheet);
    }

    private static void expect(long found, long right, String what, long passes, Sheet sheet) {
        if (found != right) {
            sheet.violation(found + what + passes);
        }
    }

    private static long sum(List<Guarded> all, int word) {
        return all.stream().mapToLong(guarded -> guarded.words.getLong(word)).sum();
    }
}
