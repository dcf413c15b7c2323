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
 * once lose counts or meet inside, and a token that does not increase is stale. Entered and left by the owner of the
 * lock alone.
 */
public final class Guarded implements Workers.Inside {

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

    /** For the processes that use the same directory. */
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

    /** Leaves, and records the owner and the time for {@link #lastOwner()} and {@link #leftAt()}. */
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

    /** Reports what is wrong, after all threads and processes have ended. */
    public void check(long passes, Measurements measurements) {
        check(List.of(this), passes, measurements);
    }

    /** As {@link #check(long, Measurements)}, for several locks. */
    public static void check(List<Guarded> all, long passes, Measurements measurements) {
        expect(sum(all, COUNT), passes, " passes were counted under the lock, of ", passes, measurements);
        expect(sum(all, MEETINGS), 0, " owners met another one inside, in passes: ", passes, measurements);
        expect(sum(all, STALE), 0, " tokens were not above the one before, in passes: ", passes, measurements);
    }

    private static void expect(long found, long right, String what, long passes, Measurements measurements) {
        if (found != right) {
            measurements.violation(found + what + passes);
        }
    }

    private static long sum(List<Guarded> all, int word) {
        return all.stream().mapToLong(guarded -> guarded.words.getLong(word)).sum();
    }
}
