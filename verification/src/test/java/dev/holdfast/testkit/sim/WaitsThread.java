package dev.holdfast.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A thread of a {@link WaitsRun}, which nests locks in any order, and what it truly waits for and holds. */
final class WaitsThread {

    private static final long MILLI = 1_000_000;
    static final long OPEN = Long.MAX_VALUE;

    /** A wait, and when it was truly blocked by all holds. */
    static final class Wait {
        final WaitsThread thread;
        final int name;
        final boolean isReader;

        /** Whether no thread waits. */
        final boolean isAsync;

        final boolean isLeased;
        final long from;
        long to = OPEN;
        boolean isAdded;

        /** Whether its client has reported a cycle of it. */
        boolean isReported;

        long behindSince = OPEN;
        final List<long[]> behind = new ArrayList<>();

        Wait(WaitsThread thread, int name, boolean isReader, boolean isAsync, boolean isLeased, long from) {
            this.thread = thread;
            this.name = name;
            this.isReader = isReader;
            this.isAsync = isAsync;
            this.isLeased = isLeased;
            this.from = from;
        }

        boolean isOver() {
            return to != OPEN;
        }

        void noteBehind(boolean isBehind, long now) {
            if (isBehind && behindSince == OPEN) {
                behindSince = now;
            } else if (!isBehind && behindSince != OPEN) {
                behind.add(new long[] {behindSince, now});
                behindSince = OPEN;
            }
        }

        /** When a hold of its name blocked it. */
        List<long[]> blockedBy(boolean isWrite) {
            if (isWrite || !isReader) {
                return List.of(new long[] {from, to});
            }
            List<long[]> spans = new ArrayList<>(behind);
            if (behindSince != OPEN) {
                spans.add(new long[] {behindSince, OPEN});
            }
            return spans;
        }
    }

    /** A hold. */
    static final class Hold {
        final WaitsThread thread;
        final WaitsStore.Claim claim;
        final boolean isWrite;
        final boolean isOwned;
        final boolean isLeased;

        final long token;
        final long from;

        /** When it was released or lost. */
        long to = OPEN;

        boolean isReleased;

        Hold(WaitsThread thread, WaitsStore.Claim claim, Wait wait, long token, long from) {
            this.thread = thread;
            this.claim = claim;
            this.isWrite = !wait.isReader;
            this.isOwned = !wait.isAsync;
            this.isLeased = wait.isLeased;
            this.token = token;
            this.from = from;
        }

        boolean isLasting() {
            return isOwned && !isLeased;
        }
    }

    final WaitsRun run;
    final WaitsClient client;
    final String name;

    /** What it has acquired and not released. */
    final List<Hold> holds = new ArrayList<>();

    /** All that it has ever waited for and held. */
    final List<Wait> waits = new ArrayList<>();

    final List<Hold> allHolds = new ArrayList<>();
    private final SeededRandom random;

    @Nullable
    Wait waiting;

    long deadlockedSince = OPEN;

    /** The waits of the cycle in which it is. */
    Set<Wait> deadlocked = Set.of();

    /** Its wait in that cycle. */
    @Nullable
    Wait deadlockedWait;

    WaitsThread(WaitsRun run, WaitsClient client, String name, SeededRandom random) {
        this.run = run;
        this.client = client;
        this.name = name;
        this.random = random;
    }

    @Override
    public String toString() {
        return name;
    }

    void think() {
        client.after(random.heavyTail(MILLI, run.thinkMax), () -> next((int) random.between(run.depthMin, run.depth)));
    }

    private List<Integer> freeNames() {
        List<Integer> free = new ArrayList<>();
        for (int i = 0; i < run.names; i++) {
            int each = i;
            if (holds.stream().noneMatch(hold -> hold.claim.name == each)) {
                free.add(i);
            }
        }
        return free;
    }

    private void next(int depth) {
        List<Integer> free = freeNames();
        if (free.isEmpty() || depth == 0) {
            client.after(random.heavyTail(MILLI, run.holdMax), this::releaseAll);
            return;
        }
        int wanted = random.oneOf(free);
        if (run.isRing && !holds.isEmpty()) {
            int next = (holds.get(holds.size() - 1).claim.name + 1) % run.names;
            wanted = free.contains(next) ? next : wanted;
        }
        boolean isReader = run.isReadWrite(wanted) && random.chance(0.6);
        boolean isUnowned = run.isPermits(wanted) || random.chance(run.asyncRate);
        boolean isLeased = random.chance(run.leaseRate);
        Wait wait = new Wait(this, wanted, isReader, isUnowned, isLeased, run.world.now());
        begin(wait);
        long most = random.heavyTail(run.waitMin, random.chance(0.7) ? run.waitMax : run.waitMax / 8);
        client.after(most, () -> client.giveUp(wait));
        client.enter(wait, hold -> ended(hold, depth));
    }

    /** A wait begins that is searched when it has lasted. */
    private void begin(Wait wait) {
        run.changed = true;
        run.note(this, "waits for ", wait.name);
        waits.add(wait);
        waiting = wait.isAsync ? null : wait;
        if (!wait.isAsync) {
            client.after(run.addedAfter, () -> client.add(wait));
        }
    }

    void end(Wait wait) {
        run.changed = true;
        run.note(this, "no longer waits for ", wait.name);
        wait.noteBehind(false, run.world.now());
        wait.to = run.world.now();
        if (waiting == wait) {
            waiting = null;
        }
        client.ended(wait);
    }

    /** It has a hold. */
    void has(Hold hold) {
        run.changed = true;
        run.note(this, hold.isLasting() ? "has " : "has for a while ", hold.claim.name);
        holds.add(hold);
        allHolds.add(hold);
        if (hold.isLeased) {
            client.after(random.between(100 * MILLI, 4_000 * MILLI), () -> client.lose(hold));
        }
        if (!hold.isOwned) {
            // Another thread of the process releases it.
            client.after(random.heavyTail(10 * MILLI, 2_000 * MILLI), () -> client.release(hold));
        }
    }

    private void ended(@Nullable Hold hold, int depth) {
        if (hold == null) {
            client.after(random.heavyTail(10_000, 20 * MILLI), () -> failed(depth));
        } else {
            client.after(random.heavyTail(10_000, run.stepMax), () -> next(depth - 1));
        }
    }

    /** A victim mostly releases what it has; sometimes it keeps that and tries again, as it should not. */
    private void failed(int depth) {
        if (random.chance(0.2)) {
            next(depth);
        } else {
            releaseAll();
        }
    }

    private void releaseAll() {
        if (holds.isEmpty()) {
            think();
            return;
        }
        client.release(holds.get(holds.size() - 1));
        client.after(random.heavyTail(10_000, 5 * MILLI), this::releaseAll);
    }

    /** Its process has died, and it with it. */
    void die() {
        long now = run.world.now();
        holds.forEach(hold -> hold.to = Math.min(hold.to, now));
        holds.clear();
        Wait wait = waiting;
        if (wait != null) {
            wait.noteBehind(false, now);
            wait.to = now;
            waiting = null;
        }
    }
}
