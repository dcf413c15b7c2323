package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.contestant.holdfast.HoldMutex;
import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import dev.holdfast.spi.LockStore;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** Threads of one process that share: readers with an occasional writer, and permits. */
final class Sharing {

    private static final int THREADS = 64;
    private static final int READS_IN_100 = 99;
    private static final int PERMITS = 16;
    private static final int PERMITS_OF_EACH = 8;

    private Sharing() {}

    static Workload workload() {
        Workload workload = LocalWorkloads.of(
                "sharing",
                "Readers, and permits, in one process",
                String.format(
                        "%d threads use one read-write lock without a break, %d times in 100 to read; or %d of %d"
                                + " permits of one semaphore. Readers check whether a writer is inside, writers are"
                                + " checked as the owners of a lock are, and the permits inside are added up.",
                        THREADS, READS_IN_100, PERMITS_OF_EACH, PERMITS));
        for (Holdfasts store : List.of(Holdfasts.MEMORY, Holdfasts.SQLITE_FULL)) {
            add(store, "read-", Sharing::read, 1_000_000, workload);
            add(store, "permits-", Sharing::permits, 150_000, workload);
        }
        return workload;
    }

    private interface Body {
        void run(Holdfast holdfast, Bench bench, Measurements measurements) throws Exception;
    }

    private static void add(Holdfasts which, String prefix, Body body, double goal, Workload workload) {
        String id = prefix + which.title();
        workload.cell(id, (bench, measurements) -> {
            try (LockStore store = which.open(bench.place());
                    Holdfast holdfast = Holdfast.builder(store).build()) {
                body.run(holdfast, bench, measurements);
            }
        });
        workload.show(
                Figure.of(id, "pairs", Unit.PER_SECOND, "pairs/s").atLeast(goal),
                Figure.of(id, "p99.9 wait", Unit.NANOS, "p99.9"),
                Figure.of(id, "longest wait timed", Unit.NANOS, "max"));
    }

    private static void read(Holdfast holdfast, Bench bench, Measurements measurements) throws Exception {
        Catalogue catalogue = new Catalogue();
        User[] users = new User[THREADS];
        DistributedReadWriteLock lock = holdfast.readWriteLock("catalogue");
        Workers.of(bench, THREADS, i -> {
                    users[i] = new User(catalogue, i);
                    return users[i].post(lock);
                })
                .run()
                .show(measurements);
        long meetings = Stream.of(users).mapToLong(user -> user.meetings).sum();
        catalogue.guarded.check(Stream.of(users).mapToLong(user -> user.writes).sum(), measurements);
        if (meetings > 0) {
            measurements.violation(meetings + " readers met a writer");
        }
    }

    private static void permits(Holdfast holdfast, Bench bench, Measurements measurements) throws Exception {
        DistributedSemaphore semaphore = holdfast.semaphore("gpu", PERMITS);
        Permits permits = new Permits();
        Workers.of(
                        bench,
                        THREADS,
                        i -> new Workers.Post(new HoldMutex(() -> semaphore.acquire(PERMITS_OF_EACH)), permits))
                .run()
                .show(measurements);
        if (permits.tooMany.get() > 0) {
            measurements.violation(permits.tooMany + " times more permits were held than there are");
        }
    }

    /** What readers and writers share; the flag costs a reader no write. */
    private static final class Catalogue {
        private final Guarded guarded = Guarded.inMemory();
        private volatile boolean isBeingWritten;
    }

    /** One thread, which reads or writes. */
    private static final class User implements Workers.Inside {
        private final Catalogue catalogue;
        private final SplittableRandom random;
        private boolean isWriting;
        private long writes;
        private long meetings;

        User(Catalogue catalogue, long seed) {
            this.catalogue = catalogue;
            this.random = new SplittableRandom(seed);
        }

        Workers.Post post(DistributedReadWriteLock lock) {
            var readLock = lock.readLock();
            var writeLock = lock.writeLock();
            return new Workers.Post(
                    new HoldMutex(() -> {
                        isWriting = random.nextInt(100) >= READS_IN_100;
                        return (isWriting ? writeLock : readLock).acquire();
                    }),
                    this);
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
    }

    /** Adds up the permits of all owners. */
    private static final class Permits implements Workers.Inside {
        private final AtomicInteger inside = new AtomicInteger();
        private final AtomicInteger tooMany = new AtomicInteger();

        @Override
        public void enter(long token) {
            if (inside.addAndGet(PERMITS_OF_EACH) > PERMITS) {
                tooMany.incrementAndGet();
            }
        }

        @Override
        public void leave() {
            inside.addAndGet(-PERMITS_OF_EACH);
        }
    }
}
