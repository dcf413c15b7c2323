package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Crew;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import dev.holdfast.spi.LockStore;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Threads of one process that share: readers with a writer now and then, and permits. */
public final class Sharing implements Workload {

    private static final List<Holdfasts> STORES = List.of(Holdfasts.MEMORY, Holdfasts.SQLITE_FULL);
    private static final int THREADS = 64;
    private static final int READS_IN_100 = 99;
    private static final int PERMITS = 16;
    private static final int WANTED = 8;

    private static final String READ = "read-";
    private static final String SEMAPHORE = "permits-";

    @Override
    public String id() {
        return "sharing";
    }

    @Override
    public String title() {
        return "Readers, and permits, in one process";
    }

    @Override
    public String method() {
        return String.format(
                "%d threads use one read-write lock without a break, %d times in 100 to read; or %d of %d"
                        + " permits of one semaphore. Readers look whether a writer is inside, writers are checked as"
                        + " the owners of a lock are, and the permits inside are added up.",
                THREADS, READS_IN_100, WANTED, PERMITS);
    }

    @Override
    public List<Cell> cells() {
        return STORES.stream()
                .flatMap(store -> Stream.of(
                        new Cell(READ + store.title(), (bench, sheet) -> read(store, bench, sheet)),
                        new Cell(SEMAPHORE + store.title(), (bench, sheet) -> permits(store, bench, sheet))))
                .toList();
    }

    private static void read(Holdfasts which, Bench bench, Sheet sheet) throws Exception {
        Guarded guarded = Guarded.inMemory();
        try (LockStore store = which.open(bench.place());
                Holdfast holdfast = Holdfast.builder(store).build()) {
            DistributedReadWriteLock lock = holdfast.readWriteLock("catalogue");
            Catalogue catalogue = new Catalogue(guarded);
            Side[] sides = new Side[THREADS];
            Crew.Tally tally = Crew.run(bench, THREADS, i -> {
                sides[i] = new Side(lock, catalogue, i);
                return new Crew.Post(sides[i], sides[i]);
            });
            tally.show(sheet);
            long writes = Stream.of(sides).mapToLong(side -> side.writes).sum();
            long meetings = Stream.of(sides).mapToLong(side -> side.meetings).sum();
            guarded.check(writes, sheet);
            if (meetings > 0) {
                sheet.violation(meetings + " readers met a writer");
            }
        }
    }

    private static void permits(Holdfasts which, Bench bench, Sheet sheet) throws Exception {
        try (LockStore store = which.open(bench.place());
                Holdfast holdfast = Holdfast.builder(store).build()) {
            DistributedSemaphore semaphore = holdfast.semaphore("gpu", PERMITS);
            AtomicInteger inside = new AtomicInteger();
            AtomicInteger over = new AtomicInteger();
            Crew.Tally tally = Crew.run(bench, THREADS, i -> {
                Desk desk = new Desk(semaphore, inside, over);
                return new Crew.Post(desk, desk);
            });
            tally.show(sheet);
            if (over.get() > 0) {
                sheet.violation(over + " times more permits were held than there are");
            }
        }
    }

    /** What readers and writers share; the flag costs a reader no write. */
    private static final class Catalogue {
        private final Guarded guarded;
        private volatile boolean isBeingWritten;

        Catalogue(Guarded guarded) {
            this.guarded = guarded;
        }
    }

    /** One thread's way to both sides. */
    private static final class Side implements Contestant.Mutex, Crew.Inside {
        private final DistributedLock readLock;
        private final DistributedLock writeLock;
        private final Catalogue catalogue;
        private final SplittableRandom random;
        private @Nullable Hold hold;
        private boolean isWriting;
        private long writes;
        private long meetings;

        Side(DistributedReadWriteLock lock, Catalogue catalogue, long seed) {
            this.readLock = lock.readLock();
            this.writeLock = lock.writeLock();
            this.catalogue = catalogue;
            this.random = new SplittableRandom(seed);
        }

        @Override
        public long acquire() throws InterruptedException {
            isWriting = random.nextInt(100) >= READS_IN_100;
            Hold granted = (isWriting ? writeLock : readLock).acquire();
            hold = granted;
            return granted.fencingToken();
        }

        @Override
        public void enter(long token) {
            if (isWriting) {
                catalogue.isBeingWritten = true;
                catalogue.guarded.enter(token);
            } else if (catalogue.isBeingWritten) {
                meetings++;
            }
        }

        @Override
        public void leave() {
            if (isWriting) {
                writes++;
                catalogue.guarded.leave();
                catalogue.isBeingWritten = false;
            } else if (catalogue.isBeingWritten) {
                meetings++;
            }
        }

        @Override
        public void release() {
            Hold held = hold;
            hold = null;
            if (held != null) {
                held.close();
            }
        }
    }

    /** One thread's way to permits. */
    private static final class Desk implements Contestant.Mutex, Crew.Inside {
        private final DistributedSemaphore semaphore;
        private final AtomicInteger inside;
        private final AtomicInteger over;
        private @Nullable Hold hold;

        Desk(DistributedSemaphore semaphore, AtomicInteger inside, AtomicInteger over) {
            this.semaphore = semaphore;
            this.inside = inside;
            this.over = over;
        }

        @Override
        public long acquire() throws InterruptedException {
            Hold granted = semaphore.acquire(WANTED);
            hold = granted;
            return granted.fencingToken();
        }

        @Override
        public void enter(long token) {
            if (inside.addAndGet(WANTED) > PERMITS) {
                over.incrementAndGet();
            }
        }

        @Override
        public void leave() {
            inside.addAndGet(-WANTED);
        }

        @Override
        public void release() {
            Hold held = hold;
            hold = null;
            if (held != null) {
                held.close();
            }
        }
    }

    @Override
    public List<Figure> figures() {
        return STORES.stream()
                .map(Holdfasts::title)
                .flatMap(store -> Stream.of(
                        Figure.of(READ + store, "pairs", Unit.PER_SECOND, "pairs/s")
                                .atLeast(1_000_000),
                        Figure.of(READ + store, "p99.9 wait", Unit.NANOS, "p99.9"),
                        Figure.of(READ + store, "longest wait timed", Unit.NANOS, "max"),
                        Figure.of(SEMAPHORE + store, "pairs", Unit.PER_SECOND, "pairs/s")
                                .atLeast(150_000),
                        Figure.of(SEMAPHORE + store, "p99.9 wait", Unit.NANOS, "p99.9"),
                        Figure.of(SEMAPHORE + store, "longest wait timed", Unit.NANOS, "max")))
                .toList();
    }
}
