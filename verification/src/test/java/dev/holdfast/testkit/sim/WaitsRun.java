package dev.holdfast.testkit.sim;

import dev.holdfast.engine.deadlock.CycleSearch;
import dev.holdfast.engine.deadlock.DeadlockDetector;
import dev.holdfast.engine.deadlock.DeadlockRules;
import dev.holdfast.engine.deadlock.WaitNode;
import dev.holdfast.testkit.sim.WaitsThread.Hold;
import dev.holdfast.testkit.sim.WaitsThread.Wait;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One run of one seed of the search for deadlocks alone: the engine's passes, detector and schedule, above a small
 * model of threads, clients and a store. The run knows what is true at every moment. A report must name threads that
 * all waited and held what it says at one moment; all reports of a cycle must choose the same victim; and a cycle must
 * be reported in time if nothing is late or lost.
 */
public final class WaitsRun {

    private static final long MILLI = 1_000_000;

    /** The client that closed the cycle, the other, and both again if their statements have crossed, with reserve. */
    private static final int WALKS = 6;

    /** The short pauses of a client that has found a cycle, but not all acknowledgements. */
    private static final long CONFIRMATION = 200 * MILLI;

    /** What a run does. */
    public enum Profile {
        /** Nothing fails and no message is late. */
        CALM,
        /** Some messages are late; processes stop and die, links are cut, locks are taken by force. */
        FAULTY,
        /** The same all the time, with short waits that are searched at once. */
        STRESS
    }

    /** What is wrong with a client or the store. */
    public enum Flaw {
        NONE,
        /** A client never removes the lines of waits that have ended. */
        LINES_STAY,
        /** A late annotation replaces a newer one. */
        ANNOTATIONS_HAVE_NO_ORDER,
        /** A wait is stated with all holds of its process. */
        HOLDS_BELONG_TO_PROCESSES
    }

    /** What a run came to. */
    public record Result(
            long events,
            int waits,
            int reports,
            int behindWriters,
            int deadlocks,
            List<String> falseAlarms,
            List<String> missed) {}

    private enum Kind {
        MUTEX,
        READ_WRITE,
        PERMITS
    }

    final World world;
    final WaitsStore store;
    final DeadlockRules rules;
    final Flaw flaw;
    final int names;
    final long ttl;
    final boolean isFaulty;
    final long thinkMax;
    final long holdMax;
    final long stepMax;
    final long waitMin;
    final long waitMax;
    final long addedAfter;
    final int depthMin;
    final int depth;

    /** Whether each thread goes on to the next name, so that long cycles are frequent. */
    final boolean isRing;

    final double asyncRate;
    final double leaseRate;

    /** Something has changed since it was last found out what is true. */
    boolean changed;

    private final Profile profile;
    private final SeededRandom random;
    private final List<Kind> kinds = new ArrayList<>();
    private final List<WaitsClient> clients = new ArrayList<>();
    private final List<WaitsThread> threads = new ArrayList<>();
    private final long oneWay;
    private final double lateRate;
    private final long lateMax;
    private final Set<Set<Wait>> reported = new HashSet<>();
    private final Map<Set<Long>, Long> victims = new HashMap<>();
    private final List<String> falseAlarms = new ArrayList<>();
    private final List<String> missed = new ArrayList<>();
    private final Trace trace;
    private long tokens;
    private int reports;
    private int behindWriters;
    private int deadlocks;

    private WaitsRun(long seed, Profile profile, DeadlockRules rules, Flaw flaw, Trace trace) {
        this.random = new SeededRandom(seed);
        this.trace = trace;
        this.world = new World(random.fork(), trace);
        this.profile = profile;
        this.rules = rules;
        this.flaw = flaw;
        boolean isStress = profile == Profile.STRESS;
        this.isFaulty = profile != Profile.CALM;
        this.ttl = random.oneOf(3_000 * MILLI, 30_000 * MILLI);
        this.oneWay = random.heavyTail(150_000, 20 * MILLI);
        this.lateRate = isFaulty ? random.oneOf(0, 3, 15) / 100.0 : 0;
        this.lateMax = isStress ? 900 * MILLI : 2_500 * MILLI;
        this.thinkMax = random.between(2 * MILLI, isStress ? 100 * MILLI : 1_000 * MILLI);
        this.holdMax = random.between(2 * MILLI, isStress ? 100 * MILLI : 1_000 * MILLI);
        this.stepMax = random.oneOf(2 * MILLI, isStress ? 100 * MILLI : 300 * MILLI);
        this.waitMin = isStress ? 60 * MILLI : 1_000 * MILLI;
        this.waitMax = isStress ? 1_500 * MILLI : 15_000 * MILLI;
        this.addedAfter = isStress ? 20 * MILLI : 1_000 * MILLI;
        this.depthMin = random.below(2) + 1;
        this.depth = (int) random.between(2, 3);
        this.isRing = random.chance(0.25);
        this.asyncRate = random.chance(0.3) ? 0.2 : 0;
        this.leaseRate = random.chance(0.3) ? 0.25 : 0;
        this.names = (int) random.between(2, 4);
        int mix = random.below(3);
        for (int i = 0; i < names; i++) {
            kinds.add(
                    mix == 0 || random.chance(0.4) ? Kind.MUTEX : random.chance(0.85) ? Kind.READ_WRITE : Kind.PERMITS);
        }
        this.store = new WaitsStore(this, names);
        int count = (int) random.between(1, 4);
        boolean isFailing = random.chance(0.5);
        for (int i = 0; i < count; i++) {
            SimClock clock = new SimClock(0, random.between(0, 1L << 50), 0, false);
            WaitsClient client = new WaitsClient(
                    this, new SimProcess(world, "c" + i, clock), random.fork(), isFailing && random.chance(0.9));
            clients.add(client);
            int its = (int) random.between(count == 1 ? 2 : 1, 3);
            for (int j = 0; j < its; j++) {
                WaitsThread thread = new WaitsThread(this, client, client.name() + "t" + j, random.fork());
                client.threads.add(thread);
                threads.add(thread);
                thread.think();
            }
        }
    }

    /** Runs one seed. */
    public static Result run(long seed, Profile profile, DeadlockRules rules, Flaw flaw) {
        return new WaitsRun(seed, profile, rules, flaw, Trace.hashOnly()).play();
    }

    /** Runs one seed, and prints what happened. */
    public static Result inWords(long seed, Profile profile, DeadlockRules rules, Flaw flaw) {
        WaitsRun run = new WaitsRun(seed, profile, rules, flaw, Trace.inWords(2_000));
        Result result = run.play();
        run.trace.lines().forEach(System.out::println);
        return result;
    }

    private Result play() {
        long end = (profile == Profile.STRESS ? 3_000 : 9_000) * MILLI;
        if (isFaulty) {
            int faults = (int) random.between(0, 10);
            for (int i = 0; i < faults; i++) {
                world.after(random.between(0, end), this::fault);
            }
        }
        boolean[] isOver = new boolean[1];
        world.after(end, () -> isOver[0] = true);
        while (!isOver[0]) {
            world.step();
            if (changed) {
                changed = false;
                noteTruth();
            }
        }
        threads.forEach(this::noteEnd);
        store.stale().forEach(grant -> falseAlarms.add("an older annotation of " + grant.id + " has stayed"));
        int waits = threads.stream().mapToInt(thread -> thread.waits.size()).sum();
        return new Result(world.events(), waits, reports, behindWriters, deadlocks, falseAlarms, missed);
    }

    static String nameOf(int number) {
        return "n" + number;
    }

    static int numberOf(String name) {
        return Integer.parseInt(name, 1, name.length(), 10);
    }

    boolean isReadWrite(int name) {
        return kinds.get(name) == Kind.READ_WRITE;
    }

    boolean isPermits(int name) {
        return kinds.get(name) == Kind.PERMITS;
    }

    long nextToken() {
        return ++tokens;
    }

    long travel(SeededRandom its) {
        long usual = its.between(oneWay / 2, oneWay);
        return lateRate > 0 && its.chance(lateRate) ? its.between(usual, lateMax) : usual;
    }

    void note(WaitsThread thread, String what, int name) {
        if (trace.isInWords()) {
            world.say(thread.name + " " + what + nameOf(name));
        }
    }

    /** A pass fails only for want of a reply. */
    void checkFailure(Throwable failure) {
        Throwable cause = failure.getCause() == null ? failure : failure.getCause();
        if (!isFaulty || !"no reply".equals(cause.getMessage())) {
            throw new IllegalStateException(failure);
        }
    }

    private void fault() {
        WaitsClient client = random.oneOf(clients);
        switch (random.below(10)) {
            case 0, 1, 2 -> client.cut(random.heavyTail(10 * MILLI, 4_000 * MILLI));
            case 3, 4, 5 -> {
                if (client.process.isRunning()) {
                    client.process.stop(SimProcess.Stop.PAUSED);
                    world.after(random.heavyTail(10 * MILLI, 4_000 * MILLI), client.process::resume);
                }
            }
            case 6, 7, 8 -> store.force(random.below(names), random);
            default -> {
                if (clients.stream().filter(each -> !each.process.isDead()).count() > 1) {
                    client.kill();
                }
            }
        }
    }

    // ---- What is true

    private void noteTruth() {
        long now = world.now();
        for (WaitsThread thread : threads) {
            Wait wait = thread.waiting;
            if (wait != null && wait.isReader) {
                wait.noteBehind(thread.client.isBehindWriter(wait), now);
            }
        }
        Map<WaitsThread, Set<WaitsThread>> edges = new HashMap<>();
        List<WaitsThread> waiting = new ArrayList<>();
        for (WaitsThread thread : threads) {
            Wait wait = thread.waiting;
            if (wait != null && !thread.holds.isEmpty()) {
                waiting.add(thread);
            }
        }
        int blocked = 0;
        for (WaitsThread thread : waiting) {
            Set<WaitsThread> blockers = blockersOf(thread.waiting, waiting);
            blocked += blockers.isEmpty() ? 0 : 1;
            edges.put(thread, blockers);
        }
        Map<WaitsThread, Set<WaitsThread>> components =
                blocked < 2 ? Map.of() : CycleSearch.components(waiting, edges::get);
        for (WaitsThread thread : threads) {
            Set<WaitsThread> component = components.get(thread);
            if (component == null) {
                noteEnd(thread);
                continue;
            }
            Set<Wait> waits = component.stream().map(each -> each.waiting).collect(Collectors.toSet());
            if (thread.deadlockedSince == WaitsThread.OPEN || !thread.deadlocked.equals(waits)) {
                noteEnd(thread);
                thread.deadlockedSince = now;
                thread.deadlocked = waits;
                thread.deadlockedWait = thread.waiting;
                deadlocks++;
            }
        }
    }

    private static Set<WaitsThread> blockersOf(@Nullable Wait wait, Collection<WaitsThread> waiting) {
        Set<WaitsThread> blockers = new LinkedHashSet<>();
        for (WaitsThread other : waiting) {
            for (Hold hold : other.holds) {
                if (wait != null
                        && other != wait.thread
                        && hold.claim.name == wait.name
                        && hold.isLasting()
                        && hold.to == WaitsThread.OPEN
                        && (hold.isWrite || !wait.isReader || wait.behindSince != WaitsThread.OPEN)) {
                    blockers.add(other);
                }
            }
        }
        return blockers;
    }

    /** A thread is no longer in a cycle, or the run is over. */
    private void noteEnd(WaitsThread thread) {
        noteDelay(thread);
        thread.deadlockedSince = WaitsThread.OPEN;
        thread.deadlocked = Set.of();
        thread.deadlockedWait = null;
    }

    private void noteDelay(WaitsThread thread) {
        Wait wait = thread.deadlockedWait;
        if (wait == null || wait.isReported || profile != Profile.CALM) {
            return;
        }
        long lasted = world.now() - thread.deadlockedSince;
        boolean isFirst = reported.add(thread.deadlocked);
        if (lasted > bound() + (isFirst ? 0 : pauses())) {
            missed.add(thread.name + " was in a cycle for " + lasted / MILLI + " ms, of at most " + bound() / MILLI);
        }
    }

    /** Until a wait is searched, a pause, and the walks in which the clients learn of each other. */
    private long bound() {
        long walk = 2 * oneWay * (names + 2);
        return addedAfter + pauses() + CONFIRMATION + WALKS * walk;
    }

    private long pauses() {
        return Math.min(2_000 * MILLI, ttl / 3);
    }

    void reported(WaitsClient by, List<WaitNode> cycle) {
        reports++;
        behindWriters +=
                cycle.stream().anyMatch(node -> node.line().blocking().name().equals("ALL_BEHIND_WRITER")) ? 1 : 0;
        String why = falseBecause(cycle);
        if (trace.isInWords()) {
            world.say(by.name() + " reports " + describe(cycle) + (why == null ? "" : " FALSE: " + why));
        }
        if (why != null) {
            falseAlarms.add(why + ": " + describe(cycle));
        }
        Optional<WaitNode> victim = DeadlockDetector.victim(cycle);
        Set<Long> ids = cycle.stream().map(node -> node.line().id()).collect(Collectors.toSet());
        long chosen = victim.map(node -> node.line().id()).orElse(0L);
        Long other = victims.putIfAbsent(ids, chosen);
        if ((other != null && other != chosen) || (chosen != 0 && !ids.contains(chosen))) {
            falseAlarms.add("not all choose the same victim: " + describe(cycle));
        }
        for (WaitNode node : cycle) {
            if (node.own() != null && node.own().request() instanceof Wait wait) {
                noteDelay(wait.thread);
                wait.isReported = true;
            }
        }
        victim.map(WaitNode::own).ifPresent(own -> by.giveUp((Wait) own.request()));
    }

    private static String describe(List<WaitNode> cycle) {
        return cycle.stream()
                .map(node -> node.line().thread() + " holds "
                        + node.holds().entrySet().stream()
                                .map(held -> held.getKey() + (held.getValue().isWrite() ? "" : " to read") + " ("
                                        + held.getValue().token() + ")")
                                .toList()
                        + " waits for " + node.line().awaits() + " "
                        + node.line().blocking())
                .collect(Collectors.joining(", "));
    }

    /** Why a reported cycle did not exist at any moment; null if it did. */
    private @Nullable String falseBecause(List<WaitNode> cycle) {
        List<long[]> common = List.of(new long[] {0, WaitsThread.OPEN});
        for (int i = 0; i < cycle.size(); i++) {
            WaitNode member = cycle.get(i);
            WaitNode next = cycle.get((i + 1) % cycle.size());
            WaitNode.HeldName held = next.holds().get(member.line().awaits());
            if (held == null) {
                return "a member does not wait for the next one";
            }
            int name = numberOf(member.line().awaits());
            List<long[]> blocked = new ArrayList<>();
            for (Hold hold : thread(next).allHolds) {
                if (hold.token == held.token() && hold.claim.name == name && hold.isLasting()) {
                    for (Wait wait : thread(member).waits) {
                        if (wait.name == name && !wait.isAsync) {
                            blocked.addAll(
                                    common(wait.blockedBy(hold.isWrite), List.of(new long[] {hold.from, hold.to})));
                        }
                    }
                }
            }
            common = common(common, blocked);
        }
        return common.isEmpty() ? "its waits and holds were not all there at one moment" : null;
    }

    private WaitsThread thread(WaitNode node) {
        return threads.stream()
                .filter(thread -> thread.name.equals(node.line().thread()))
                .findFirst()
                .orElseThrow();
    }

    private static List<long[]> common(List<long[]> some, List<long[]> others) {
        List<long[]> common = new ArrayList<>();
        for (long[] one : some) {
            for (long[] other : others) {
                long from = Math.max(one[0], other[0]);
                long to = Math.min(one[1], other[1]);
                if (from < to) {
                    common.add(new long[] {from, to});
                }
            }
        }
        return common;
    }
}
