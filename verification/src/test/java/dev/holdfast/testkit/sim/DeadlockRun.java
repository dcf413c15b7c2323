package dev.holdfast.testkit.sim;

import dev.holdfast.Deadlock;
import dev.holdfast.OnDeadlock;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.engine.deadlock.CycleSearch;
import dev.holdfast.engine.deadlock.DeadlockRules;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.store.memory.ReferenceMachine;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One run of one seed of the search for deadlocks: whole engines, whose threads nest locks, read-write locks and
 * permits in any order. The run knows everything at every moment. A report must name threads that all waited and held
 * what it says at one moment; and in a run without faults a thread that stays deadlocked must be reported.
 */
public final class DeadlockRun {

    private static final long MILLI = 1_000_000;
    private static final long EPOCH_2026 = 1_767_225_600_000_000_000L;
    private static final long CHECK_EVERY = 250 * MILLI;

    /** The threads of a run, of which only the identity is used; one set for each thread that runs seeds. */
    private static final ThreadLocal<List<Thread>> IDENTITIES = ThreadLocal.withInitial(DeadlockRun::identities);

    private static final int MOST_THREADS = 18;

    /** What a run does. */
    public enum Profile {
        /** Everything, with faults in most seeds. */
        RANDOM,
        /** Short waits, frequent passes, long delays, many faults. */
        STRESS,
        /** No thread holds anything while it waits. */
        FLAT
    }

    record Name(String name, Kind kind, ResourceSpec spec) {}

    /**
     * What a run came to.
     *
     * @param reports how often a deadlock was reported
     * @param falseAlarms what was reported and did not exist
     * @param missed threads that stayed deadlocked without a report
     * @param deadlocked waits that stayed deadlocked for a second
     * @param commands commands that only the search sends
     */
    public record Result(
            long events,
            int waits,
            int reports,
            int behindWriters,
            List<String> falseAlarms,
            List<String> missed,
            int deadlocked,
            int commands,
            List<String> trace) {}

    final World world;
    final SimStore store;
    final List<Name> names = new ArrayList<>();
    final long ttl;
    final long budget;
    final long thinkMax;
    final long holdMax;
    final long waitMin;
    final long waitMax;
    final long addedAfter;
    final int depth;
    final double asyncRate;
    final double leaseRate;

    /** Something has changed since it was last found out which readers are behind writers. */
    boolean changed;

    int waits;
    private int reports;
    private int behindWriters;
    private int deadlocked;
    private int commands;
    private final List<String> falseAlarms = new ArrayList<>();
    private final List<String> missed = new ArrayList<>();
    private final SeededRandom random;
    private final SimClock storeClock = new SimClock(0, 0, EPOCH_2026, false);
    private final List<DeadlockProcess> processes = new ArrayList<>();
    private final Map<SessionId, DeadlockLink> owners = new HashMap<>();
    private final boolean isFaulty;
    private final boolean hasLongDelays;
    private final long oneWay;
    private final long longDelay;
    private final Profile profile;
    private final long missedAfter;
    private final Trace trace;

    private DeadlockRun(long seed, Profile profile, SafetyRules rules, Trace trace) {
        this.random = new SeededRandom(seed);
        this.trace = trace;
        this.world = new World(random.fork(), trace);
        this.store = SimStore.reference();
        this.profile = profile;
        boolean isStress = profile == Profile.STRESS;
        this.ttl = 3_000 * MILLI;
        this.budget = random.oneOf(0, MILLI, 10 * MILLI);
        this.hasLongDelays = isStress || random.chance(0.3);
        this.isFaulty = isStress || random.chance(0.4);
        this.oneWay = random.heavyTail(150_000, 20 * MILLI);
        this.longDelay = isStress ? 900 * MILLI : 2_500 * MILLI;
        this.thinkMax = random.between(10 * MILLI, isStress ? 100 * MILLI : 2_000 * MILLI);
        this.holdMax = random.between(5 * MILLI, isStress ? 100 * MILLI : 2_000 * MILLI);
        this.waitMin = isStress ? 60 * MILLI : 300 * MILLI;
        this.waitMax = isStress ? 600 * MILLI : 15_000 * MILLI;
        this.addedAfter = isStress ? 20 * MILLI : 1_000 * MILLI;
        this.missedAfter = 6_000 * MILLI;
        this.depth = profile == Profile.FLAT ? 1 : 3;
        this.asyncRate = random.chance(0.3) ? 0.2 : 0;
        this.leaseRate = random.chance(0.3) ? 0.25 : 0;
        addNames();
        addProcesses(rules);
    }

    private void addNames() {
        int count = (int) random.between(2, 5);
        int mix = random.below(3);
        for (int i = 0; i < count; i++) {
            Kind kind =
                    mix == 0 || random.chance(0.4) ? Kind.MUTEX : random.chance(0.8) ? Kind.READ_WRITE : Kind.SEMAPHORE;
            ResourceSpec spec = switch (kind) {
                case READ_WRITE -> new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, Order.FAIR);
                case SEMAPHORE -> new ResourceSpec(Kind.SEMAPHORE, (int) random.between(1, 2), Order.FAIR);
                default -> ResourceSpec.MUTEX;
            };
            names.add(new Name("n" + i, kind, spec));
        }
    }

    private void addProcesses(SafetyRules rules) {
        int count = (int) random.between(2, 6);
        boolean isFailing = random.chance(0.5);
        for (int i = 0; i < count; i++) {
            long wallOff = random.chance(0.3) ? random.between(-3_600_000 * MILLI, 3_600_000 * MILLI) : 0;
            SimClock clock = new SimClock(0, random.between(0, 1L << 50), EPOCH_2026 + wallOff, false);
            DeadlockProcess process = new DeadlockProcess(this, new SimProcess(world, "p" + i, clock), random.fork());
            processes.add(process);
            process.open(
                    isFailing && random.chance(0.9) ? OnDeadlock.FAIL : OnDeadlock.REPORT,
                    rules,
                    IDENTITIES.get().subList(3 * i, 3 * i + (int) random.between(1, 3)));
        }
    }

    private static List<Thread> identities() {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < MOST_THREADS; i++) {
            Thread thread = new Thread(
                    () -> {
                        while (true) {
                            LockSupport.park();
                        }
                    },
                    "t" + i);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        return threads;
    }

    /** Runs one seed. */
    public static Result run(long seed, Profile profile, DeadlockRules rules) {
        return new DeadlockRun(seed, profile, keeping(rules), Trace.hashOnly()).play();
    }

    /** Runs one seed, and keeps what happened. */
    public static Result inWords(long seed, Profile profile, DeadlockRules rules) {
        return new DeadlockRun(seed, profile, keeping(rules), Trace.inWords(2_000)).play();
    }

    private static SafetyRules keeping(DeadlockRules rules) {
        return new SafetyRules() {
            @Override
            public DeadlockRules deadlocks() {
                return rules;
            }
        };
    }

    private Result play() {
        long end = (profile == Profile.STRESS ? 15_000 : 60_000) * MILLI;
        if (isFaulty) {
            spreadFaults(end);
        }
        check();
        boolean[] isOver = new boolean[1];
        world.after(end, () -> isOver[0] = true);
        while (!isOver[0]) {
            world.step();
            if (changed) {
                changed = false;
                noteReaders();
            }
        }
        return new Result(
                world.events(),
                waits,
                reports,
                behindWriters,
                falseAlarms,
                missed,
                deadlocked,
                commands,
                trace.isInWords() ? trace.lines() : List.of());
    }

    // ---- The store and the network

    long travel(SeededRandom its) {
        long usual = its.between(oneWay / 2, oneWay);
        return hasLongDelays && its.chance(0.03) ? its.between(usual, longDelay) : usual;
    }

    Reply apply(Command command, DeadlockLink from) {
        changed = true;
        ReferenceMachine.Outcome outcome = store.apply(command, storeClock.wall(world.now()) / 1_000);
        if (outcome.reply() instanceof Reply.SessionOpened opened) {
            owners.put(opened.session(), from);
        }
        for (Signal signal : outcome.signals()) {
            SessionId session = SimServer.sessionOf(signal);
            DeadlockLink owner = session == null ? null : owners.get(session);
            if (owner != null) {
                owner.push(signal, isFaulty && random.chance(0.05));
            }
        }
        return outcome.reply();
    }

    void sent(Command command) {
        if (command instanceof Command.Inspect || command instanceof Command.Annotate) {
            commands++;
        }
    }

    private Optional<ResourceInfo> inspect(String name) {
        Command look = new Command.Inspect(name, Optional.empty(), 1_000, Command.Inspect.Scope.NAME);
        Reply reply = store.apply(look, storeClock.wall(world.now()) / 1_000).reply();
        return ((Reply.Inspected) reply).resources().stream().findFirst();
    }

    private void spreadFaults(long end) {
        int count = profile == Profile.STRESS ? 30 : (int) random.between(2, 12);
        for (int i = 0; i < count; i++) {
            world.after(random.between(0, end), this::fault);
        }
    }

    private void fault() {
        DeadlockProcess process = random.oneOf(processes);
        switch (random.below(profile == Profile.STRESS ? 8 : 10)) {
            case 0, 1, 2 -> process.link.cut(random.heavyTail(10 * MILLI, 2 * ttl));
            case 3, 4, 5 -> pause(process.process, random.heavyTail(10 * MILLI, 2 * ttl));
            case 6, 7 -> force(random.oneOf(names).name());
            default -> {
                if (processes.stream().filter(each -> !each.process.isDead()).count() > 1) {
                    process.kill();
                }
            }
        }
    }

    private void pause(SimProcess process, long nanos) {
        if (process.isRunning()) {
            process.stop(SimProcess.Stop.PAUSED);
            world.after(nanos, process::resume);
        }
    }

    private void force(String name) {
        inspect(name).filter(info -> !info.holders().isEmpty()).ifPresent(info -> {
            var tokens = random.oneOf(info.holders()).tokens();
            tokens.ifPresent(block -> {
                var unused =
                        apply(new Command.ForceRelease(new ResourceName(name), block.last()), processes.get(0).link);
            });
        });
    }

    // ---- What is true

    private Collection<DeadlockThread> threads() {
        return processes.stream().flatMap(process -> process.threads.stream()).toList();
    }

    private void noteReaders() {
        for (DeadlockThread thread : threads()) {
            WaitHistory.Wait wait = thread.waiting;
            if (wait != null && wait.isReader) {
                wait.noteBehindWriter(isBehindWriter(thread, wait), world.now());
            }
        }
    }

    private boolean isBehindWriter(DeadlockThread thread, WaitHistory.Wait wait) {
        if (thread.thread.isBehindWriterHere()) {
            return true;
        }
        Optional<ResourceInfo> info = inspect(wait.name);
        if (info.isEmpty()) {
            return false;
        }
        ClaimRef queued = thread.thread.queuedClaim().orElse(null);
        boolean hasWriter = false;
        for (ResourceInfo.Party party : info.get().waiters()) {
            if (queued != null && party.claim().equals(queued)) {
                return hasWriter;
            }
            hasWriter |= party.weight() > 1;
        }
        return queued == null && hasWriter && thread.thread.isDraining();
    }

    void reported(DeadlockProcess by, Deadlock deadlock) {
        reports++;
        behindWriters += deadlock.members().stream().anyMatch(Deadlock.Member::isBehindWriter) ? 1 : 0;
        String why = falseBecause(deadlock);
        note(by.process.name() + " reports " + deadlock.describe() + (why == null ? "" : ", FALSE: " + why));
        if (why != null) {
            falseAlarms.add(why + ": " + deadlock.describe());
        }
        for (Deadlock.Member member : deadlock.members()) {
            if (member.label().equals(by.process.name())) {
                find(member).ifPresent(thread -> thread.isReported = true);
            }
        }
    }

    private Optional<DeadlockThread> find(Deadlock.Member member) {
        return processes.stream()
                .filter(process -> process.process.name().equals(member.label()))
                .flatMap(process -> process.threads.stream())
                .filter(thread -> thread.thread.name().equals(member.thread()))
                .findFirst();
    }

    /** Why a reported deadlock did not exist at any moment; null if it did. */
    private @Nullable String falseBecause(Deadlock deadlock) {
        List<WaitHistory.Span> common = List.of(new WaitHistory.Span(0, WaitHistory.OPEN));
        List<Deadlock.Member> members = deadlock.members();
        for (int i = 0; i < members.size(); i++) {
            Deadlock.Member member = members.get(i);
            Deadlock.Member next = members.get((i + 1) % members.size());
            DeadlockThread thread = find(member).orElse(null);
            DeadlockThread blocker = find(next).orElse(null);
            if (thread == null || blocker == null || !member.awaits().equals(next.holds())) {
                return "a member is not a thread that waits for the next one";
            }
            WaitHistory.Held hold = blocker.history.holds.stream()
                    .filter(each -> each.name.equals(next.holds()) && each.hold.rawToken() == next.token())
                    .reduce((first, second) -> second)
                    .orElse(null);
            if (hold == null || !hold.isLasting) {
                return "a member has no such hold, or one that others can end";
            }
            List<WaitHistory.Span> blocked = new ArrayList<>();
            for (WaitHistory.Wait wait : thread.history.waits) {
                if (wait.name.equals(member.awaits())) {
                    List<WaitHistory.Span> when =
                            hold.isWrite ? List.of(new WaitHistory.Span(wait.from, wait.to)) : wait.blockedByAll();
                    blocked.addAll(WaitHistory.Span.common(when, List.of(new WaitHistory.Span(wait.from, wait.to))));
                }
            }
            common = WaitHistory.Span.common(common, WaitHistory.Span.common(blocked, List.of(hold.span())));
        }
        return common.isEmpty() ? "its waits and holds were not all there at one moment" : null;
    }

    /** Finds threads that stay deadlocked. */
    private void check() {
        List<DeadlockThread> waiting = threads().stream()
                .filter(thread -> thread.waiting != null && thread.thread.isWaiting())
                .toList();
        Map<DeadlockThread, Set<DeadlockThread>> edges = new HashMap<>();
        for (DeadlockThread thread : waiting) {
            Set<DeadlockThread> blockers = new LinkedHashSet<>();
            WaitHistory.Wait wait = thread.waiting;
            for (DeadlockThread other : waiting) {
                for (WaitHistory.Held held : other.holding) {
                    if (other != thread
                            && wait != null
                            && held.isLasting
                            && held.to == WaitHistory.OPEN
                            && held.hold.isLive()
                            && held.name.equals(wait.name)
                            && (held.isWrite || !wait.isReader || wait.behindWriterSince != WaitHistory.OPEN)) {
                        blockers.add(other);
                    }
                }
            }
            edges.put(thread, blockers);
        }
        Set<DeadlockThread> cyclic = CycleSearch.components(waiting, edges::get).keySet();
        for (DeadlockThread thread : threads()) {
            if (!cyclic.contains(thread)) {
                thread.deadlockedSince = WaitHistory.OPEN;
            } else if (thread.deadlockedSince == WaitHistory.OPEN) {
                thread.deadlockedSince = world.now();
            } else {
                long since = world.now() - thread.deadlockedSince;
                deadlocked += since >= 1_000 * MILLI && since < 1_000 * MILLI + CHECK_EVERY ? 1 : 0;
                if (since >= missedAfter && since < missedAfter + CHECK_EVERY && !thread.isReported) {
                    String what = thread.process.process.name() + " " + thread.thread.name() + " waits for "
                            + (thread.waiting == null ? "" : thread.waiting.name);
                    note("MISSED " + what);
                    if (!isFaulty && !hasLongDelays) {
                        missed.add(what);
                    }
                }
            }
        }
        world.after(CHECK_EVERY, this::check);
    }

    void note(DeadlockThread thread, String what) {
        if (trace.isInWords()) {
            note(thread.process.process.name() + " " + thread.thread.name() + " " + what);
        }
    }

    private void note(String what) {
        if (trace.isInWords()) {
            world.say(what);
        }
    }
}
