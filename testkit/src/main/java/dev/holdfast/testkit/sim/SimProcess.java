package dev.holdfast.testkit.sim;

import java.util.ArrayList;
import java.util.List;

/**
 * One process on one machine. Events in it are postponed while it does not run, and dropped once it is dead; what it
 * has sent before is still delivered.
 */
final class SimProcess {

    /** How a process stops for a while. */
    enum Stop {
        /** The process stands still (a collection of garbage, a stopped job) and all clocks run on. */
        PAUSED,
        /** The machine sleeps: the monotonic clock stands still, the boot clock runs on. */
        SUSPENDED,
        /** The virtual machine is frozen: both stand still, and the wall clock is stepped on waking. */
        FROZEN
    }

    private enum State {
        RUNNING,
        STOPPED,
        DEAD
    }

    private static final long NEVER = Long.MAX_VALUE / 4;

    private final World world;
    private final String name;
    private final SimClock clock;
    private final List<Runnable> backlog = new ArrayList<>();
    private State state = State.RUNNING;
    private Stop stop = Stop.PAUSED;
    private long since;
    private long wokeAt = -NEVER;
    private long awakeSince = -NEVER;
    private long setBackAt = -NEVER;
    private long steppedAt = -NEVER;

    SimProcess(World world, String name, SimClock clock) {
        this.world = world;
        this.name = name;
        this.clock = clock;
    }

    String name() {
        return name;
    }

    SimClock clock() {
        return clock;
    }

    boolean isRunning() {
        return state == State.RUNNING;
    }

    boolean isDead() {
        return state == State.DEAD;
    }

    /** Whether the clocks by which it judges its deadlines stand still. */
    boolean isFrozen() {
        return state == State.STOPPED && stop == Stop.FROZEN;
    }

    /** Whether it stands still while its clocks run. */
    boolean isPaused() {
        return state == State.STOPPED && stop == Stop.PAUSED;
    }

    /** Whether its monotonic clock stands still. */
    boolean isAsleep() {
        return state == State.STOPPED && stop != Stop.PAUSED;
    }

    /** When its wall clock was last found stepped, in true time. */
    long steppedAt() {
        return steppedAt;
    }

    /** When its wall clock was last stepped back, in true time. */
    long setBackAt() {
        return setBackAt;
    }

    /** Whether its machine has ever slept. */
    boolean hasSlept() {
        return awakeSince != -NEVER;
    }

    /** Since when its timers have been running without a sleep, in true time. */
    long awakeSince() {
        return awakeSince;
    }

    /** Since when it has been running without a break, in true time. */
    long runningSince() {
        return wokeAt;
    }

    void after(long delay, Runnable what) {
        world.after(delay, this, what);
    }

    void postpone(Runnable what) {
        if (state == State.STOPPED) {
            backlog.add(what);
        }
    }

    void stop(Stop how) {
        if (state != State.RUNNING) {
            return;
        }
        state = State.STOPPED;
        stop = how;
        since = world.now();
        note(how.name().toLowerCase(java.util.Locale.ROOT));
    }

    /** Resumes it: postponed events are due at once, in any order. */
    void resume() {
        if (state != State.STOPPED) {
            return;
        }
        state = State.RUNNING;
        switch (stop) {
            case PAUSED -> {}
            case SUSPENDED -> {
                clock.wakeFromSuspension(since, world.now());
                awakeSince = world.now();
            }
            case FROZEN -> {
                clock.thaw(since, world.now());
                steppedAt = world.now();
            }
        }
        wokeAt = world.now();
        note("goes on after " + (world.now() - since) / 1_000_000 + " ms");
        List<Runnable> due = List.copyOf(backlog);
        backlog.clear();
        due.forEach(what -> after(0, what));
    }

    void stepWall(long nanos) {
        clock.stepWall(nanos);
        steppedAt = world.now();
        if (nanos < 0) {
            setBackAt = world.now();
        }
    }

    void kill() {
        resume();
        state = State.DEAD;
        backlog.clear();
        note("is killed");
    }

    @Override
    public String toString() {
        return name;
    }

    private void note(String what) {
        world.trace().mix(what);
        if (world.trace().isInWords()) {
            world.say(name + " " + what);
        }
    }
}
