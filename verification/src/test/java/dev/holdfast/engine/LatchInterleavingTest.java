package dev.holdfast.engine;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.memory.ReferenceStore;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** As {@link InterleavingTest}, for latches. */
@DisplayName(
        "A latch counts as if each count-down happened at one moment, and lets everybody pass, however threads are interleaved")
class LatchInterleavingTest {

    /** A latch that is set to two, in two clients. */
    public abstract static class Latches {
        private final ReferenceStore store = Interleavings.newStore();
        final DistributedCountDownLatch here = latch("alice");
        final DistributedCountDownLatch there = latch("bob");

        Latches() {
            if (!here.trySetCount(2)) {
                throw new AssertionError("it was set");
            }
        }

        private DistributedCountDownLatch latch(String label) {
            return Interleavings.client(store, label, Duration.ofMillis(10))
                    .primitives()
                    .latch(new ResourceName("latch"));
        }
    }

    /** Counts down by ids, some of them again. */
    @Param(name = "id", gen = IntGen.class, conf = "1:3")
    public static final class Counting extends Latches {
        @Operation
        public long countHere(@Param(name = "id") int id) {
            return here.countDown("id-" + id);
        }

        @Operation
        public long countThere(@Param(name = "id") int id) {
            return there.countDown("id-" + id);
        }

        @Operation
        public long look() {
            return there.count();
        }
    }

    /** The result of each operation without concurrency. */
    public static final class CountingAlone {
        private final Set<Integer> counted = new HashSet<>();
        private long left = 2;

        public long countHere(int id) {
            if (left > 0 && counted.add(id)) {
                left--;
            }
            return left;
        }

        public long countThere(int id) {
            return countHere(id);
        }

        public long look() {
            return left;
        }
    }

    /** Two that wait for each other, each of whom wrote to a plain field before. */
    public static final class Meeting extends Latches {
        private int first;
        private int second;

        @Operation(blocking = true, runOnce = true)
        public int first() throws InterruptedException {
            first = 1;
            here.countDown();
            here.await();
            return second;
        }

        @Operation(blocking = true, runOnce = true)
        public int second() throws InterruptedException {
            second = 1;
            there.countDown();
            there.await();
            return first;
        }
    }

    /** No thread passes before the other has arrived. */
    public static final class MeetingAlone {
        public int first() {
            return 1;
        }

        public int second() {
            return 1;
        }
    }

    @Test
    @Tag(Interleavings.IN_ITS_OWN_JVM)
    @DisplayName("by the machine, many times")
    void countingByTheMachine() {
        Interleavings.byTheMachine()
                .sequentialSpecification(CountingAlone.class)
                .check(Counting.class);
    }

    @Test
    @Tag(Interleavings.SLOW)
    @DisplayName("by switching threads at any access to memory")
    void countingByTheExplorer() {
        Interleavings.byTheExplorer()
                .sequentialSpecification(CountingAlone.class)
                .check(Counting.class);
    }

    @Test
    @Tag(Interleavings.SLOW)
    @DisplayName("by switching threads at any access to memory, where two wait for each other")
    void meetingByTheExplorer() {
        ModelCheckingOptions meeting =
                Interleavings.byTheExplorer().iterations(1).actorsAfter(0);
        meeting.sequentialSpecification(MeetingAlone.class).check(Meeting.class);
    }
}
