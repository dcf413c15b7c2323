package dev.holdfast.testkit.sim;

import dev.holdfast.Environment;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** The environment of one simulated process: the clocks of its machine, late timers and slow callbacks. */
final class SimEnvironment implements Environment {

    private final World world;
    private final SimProcess process;
    private final SimClock clock;
    private final SeededRandom random;
    private final long latenessMax;

    /**
     * Sets up the surroundings.
     *
     * @param latenessMax by how much a timer or a callback may come late, in nanoseconds of true time
     */
    SimEnvironment(World world, SimProcess process, SimClock clock, SeededRandom random, long latenessMax) {
        this.world = world;
        this.process = process;
        this.clock = clock;
        this.random = random;
        this.latenessMax = latenessMax;
    }

    @Override
    public long monotonicNanos() {
        return clock.monotonic(world.now());
    }

    @Override
    public long bootNanos() {
        return clock.boot(world.now());
    }

    @Override
    public long wallMillis() {
        return TimeUnit.NANOSECONDS.toMillis(clock.wall(world.now()));
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        SimTimer timer = new SimTimer(task, monotonicNanos() + Math.max(delayNanos, 0));
        timer.arm(lateness());
        return timer;
    }

    @Override
    public Executor callbacks() {
        return task -> world.after(lateness(), process, task);
    }

    @Override
    public long randomLong() {
        return random.next();
    }

    private long lateness() {
        return random.heavyTail(1_000, latenessMax);
    }

    /**
     * A timer follows the monotonic clock, so it sleeps with the machine: when its true time has come, it checks the
     * clock and may wait longer.
     */
    private final class SimTimer implements Timer, Runnable {
        private final Runnable task;
        private final long due;
        private boolean isCancelled;

        SimTimer(Runnable task, long due) {
            this.task = task;
            this.due = due;
        }

        @Override
        public void cancel() {
            isCancelled = true;
        }

        void arm(long lateness) {
            world.after(clock.trueDuration(Math.max(due - monotonicNanos(), 0)) + lateness, process, this);
        }

        @Override
        public void run() {
            if (isCancelled) {
                return;
            }
            if (due - monotonicNanos() > 0) {
                arm(0);
            } else {
                task.run();
            }
        }
    }
}
