package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.store.memory.ReferenceStore;
import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * The rules of every store, on three reference stores whose clocks are never quite together, as those of servers are.
 */
class QuorumOfClocksApartConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new ClocksApart();
    }

    private static final class ClocksApart implements StoreUnderTest {

        private static final long START = 1_750_000_000_000_000L;

        /** The clocks' maximum lead in microseconds; most lead by far less. */
        private static final int MOST_AHEAD = 1 << 13;

        /**
         * A clock runs at its rate for this many reads, and then jumps forward or stands still, since it never goes
         * back.
         */
        private static final int READS_PER_DRAW = 4;

        private final List<ReferenceStore> members = IntStream.range(0, 3)
                .mapToObj(number -> new ReferenceStore(clock(new SplittableRandom(number))))
                .toList();
        private final QuorumStore first = connect();
        private final QuorumStore second = connect();

        private static LongSupplier clock(SplittableRandom random) {
            long origin = System.nanoTime();
            return new LongSupplier() {
                private int reads;
                private long ahead;
                private long newest;

                @Override
                public synchronized long getAsLong() {
                    if (reads++ % READS_PER_DRAW == 0) {
                        ahead = random.nextInt(1 + random.nextInt(MOST_AHEAD)) >> random.nextInt(8);
                    }
                    long passed = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - origin);
                    newest = Math.max(newest, START + ahead + passed);
                    return newest;
                }
            };
        }

        private QuorumStore connect() {
            QuorumStore.Builder builder = QuorumStore.builder().longestLease(Command.MAX_DURATION);
            members.forEach(member -> builder.member(member.connect()));
            return builder.open();
        }

        @Override
        public LockStore first() {
            return first;
        }

        @Override
        public LockStore second() {
            return second;
        }

        @Override
        public Duration shortTtl() {
            return Duration.ofMillis(400);
        }

        /** Members whose clocks are apart are asked for more tokens than are wanted. */
        @Override
        public boolean retells() {
            return true;
        }

        /** A run takes a few milliseconds, and what comes of clocks that are apart is seldom. */
        @Override
        public int randomRuns() {
            return 500;
        }

        @Override
        public void close() {
            first.close();
            second.close();
        }
    }
}
