package dev.holdfast.testkit.sim;

import dev.holdfast.Loss;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.client.BrokenRegisterClients;
import dev.holdfast.store.register.client.RegisterStore;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One run of one seed: whole clients on a register, each with its own store. Their writes compete, get lost and arrive
 * late; processes pause, sleep and die. After the chaos every request is served. Then all clients request the same
 * lock repeatedly, one of them from far away, and none may be overtaken too often. In the end no record contains
 * anything.
 */
public final class RegisterRun {

    private static final long MILLI = 1_000_000;
    private static final long EPOCH_2026 = 1_767_225_600_000_000_000L;

    /** How long the rush lasts, and how long the server takes for a write in it. */
    private static final long RUSH = 2_000 * MILLI;

    private static final long RUSH_WRITE = 2 * MILLI;

    /** How many turns each other client may have while one waits. */
    private static final int TURNS_OF_EACH = 3;

    /** How many turns others have besides while messages travel: three round trips of a client that loses twice. */
    private static final int TURNS_EN_ROUTE = 24;

    /** How many they may have at most, in the rare runs in which that client loses more often. */
    private static final int MOST_TURNS_EN_ROUTE = 45;

    final World world;
    final Plan plan;
    final NetworkConditions network;
    final HoldJudge holdOracle;
    final MemoryRegister server;
    final BrokenRegisters rules;
    private final BrokenRegisterClients clientRules;
    final ClientUnderTest.Starter starter;

    /** How long a client waits for an answer. */
    final long patience;

    boolean isCalm;

    /** Whether all ask for the same lock again and again. */
    boolean isRushed;

    /** The one that is far from the server in the rush, and how far. */
    private @Nullable SimProcess distant;

    private long distance;

    /** How many turns there have been in the rush, and whose the last one was. */
    int turns;

    private int mostPassed;

    /** Whether a client waited longer than for its turns and three round trips. */
    private boolean isUnlucky;

    private @Nullable SimProcess lastTurn;
    private final SeededRandom random;

    /** Decides on lost followers; apart, so that the other faults of a seed are the same without them. */
    private final SeededRandom losses;

    private final boolean losesFollowers;
    final boolean answersLate;

    private final Trace trace;
    private final List<RegisterClient> clients = new ArrayList<>();
    private final List<SimRegister> registers = new ArrayList<>();
    private int processes;

    private RegisterRun(
            long seed,
            RegisterTraits.Clock clock,
            Trace trace,
            ClientUnderTest.Starter starter,
            BrokenRegisters rules,
            BrokenRegisterClients clientRules) {
        this.trace = trace;
        this.random = new SeededRandom(seed);
        this.losses = new SeededRandom(~seed);
        this.losesFollowers = losses.chance(0.25);
        this.answersLate = losses.chance(0.25);
        this.world = new World(random.fork(), trace);
        this.plan = new Plan(random.fork());
        this.network = new NetworkConditions(world, plan);
        this.holdOracle = new HoldJudge(world);
        this.rules = rules;
        this.clientRules = clientRules;
        this.starter = starter;
        this.patience = Math.max(5 * MILLI, plan.storeTimeout / 3);
        SimClock serverClock = new SimClock(plan.storeRate, 0, EPOCH_2026, false);
        this.server = new MemoryRegister(clock, () -> serverClock.wall(world.now()) / 1_000);
    }

    /** What a run came to. */
    public record Result(long hash, long events, int grants, int takenIn, int mostPassed, boolean isUnlucky) {}

    /**
     * Runs one seed.
     *
     * @throws SimulationFailure if a rule was broken
     */
    public static Result run(
            long seed,
            RegisterTraits.Clock clock,
            ClientUnderTest.Starter starter,
            BrokenRegisters rules,
            BrokenRegisterClients clientRules) {
        return new RegisterRun(seed, clock, Trace.hashOnly(), starter, rules, clientRules).play();
    }

    /** Runs one seed and shows the last lines of what happened if it fails. */
    public static Result inWords(
            long seed, RegisterTraits.Clock clock, ClientUnderTest.Starter starter, BrokenRegisters rules) {
        Trace trace = Trace.inWords(400);
        try {
            return new RegisterRun(seed, clock, trace, starter, rules, BrokenRegisterClients.SOUND).play();
        } catch (SimulationFailure failure) {
            throw failure.withReplay(seed, clock.toString(), trace.lines(), "seed " + seed);
        }
    }

    private Result play() {
        for (int i = 0; i < Math.max(2, plan.processes); i++) {
            addClient();
        }
        spread();
        tick();
        go(Math.min(plan.chaos, 3 * plan.ttl));
        heal();
        long bound = 8 * plan.ttl
                + 3 * plan.storeTimeout
                + 10_000 * MILLI
                + clients.size() * plan.threads * 4 * plan.holdMax;
        long until = world.now() + bound;
        while (clients.stream().anyMatch(client -> client.unserved > 0 && !client.process.isDead())) {
            if (world.now() > until) {
                world.fail(Rule.EVERYTHING_ENDS, "somebody was not served within " + bound / MILLI + " ms");
            }
            world.step();
        }
        if (rules == BrokenRegisters.SOUND) {
            starvationCheck(); // takes most of the time, and shows nothing of what breaks others
        }
        go(4 * plan.ttl + plan.holdMax);
        checkNothingLeft();
        return new Result(trace.hash(), world.events(), holdOracle.grants, server.takenIn(), mostPassed, isUnlucky);
    }

    private void starvationCheck() {
        List<RegisterClient> living =
                clients.stream().filter(client -> !client.process.isDead()).toList();
        distant = random.oneOf(living).process;
        distance = random.between(5 * MILLI, 12 * MILLI);
        isRushed = true;
        living.forEach(RegisterClient::starvationCheck);
        go(RUSH);
        isRushed = false;
    }

    /** How much longer what a process sends, or is sent, takes than usual. */
    long distance(SimProcess process) {
        return isRushed && process == distant ? distance : 0;
    }

    /** How long a client, having renewed its session, can't reach the server; mostly zero. */
    long followerLoss() {
        return losesFollowers && !isCalm && losses.chance(0.1) ? losses.between(plan.ttl / 2, 2 * plan.ttl) : 0;
    }

    /** How much later than usual the answer to a write comes. */
    long answerDelay() {
        return answersLate && !isCalm && losses.chance(0.3) ? losses.between(0, plan.ttl) : 0;
    }

    /** How long the server takes for a write. */
    long writeTime() {
        return isRushed ? RUSH_WRITE : 0;
    }

    /** Records a grant in the rush, and checks how often each client that waits was passed. */
    void served(RegisterClient client) {
        if (client.process != lastTurn) {
            turns++;
            lastTurn = client.process;
        }
        checkPassed(client, turns - 1);
        client.turnsBefore = RegisterClient.NOT_WAITING;
        clients.stream()
                .filter(other -> other.turnsBefore != RegisterClient.NOT_WAITING)
                .forEach(other -> checkPassed(other, turns));
    }

    /** Checks how many turns others have had since a client began to wait. */
    private void checkPassed(RegisterClient client, int turnsOfAll) {
        SimProcess process = client.process;
        int passed = turnsOfAll - client.turnsBefore;
        mostPassed = Math.max(mostPassed, passed);
        int turnsOfOthers = TURNS_OF_EACH * clients.size();
        isUnlucky |= passed > turnsOfOthers + TURNS_EN_ROUTE;
        int most = turnsOfOthers + MOST_TURNS_EN_ROUTE;
        if (passed > most) {
            world.fail(
                    Rule.NOBODY_STARVES,
                    "while " + process.name() + " waited, others had " + passed + " turns, not " + most + " at most"
                            + (process == distant ? "; it is " + distance / 1_000 + " us away" : ""));
        }
    }

    /** The server ends expired sessions. */
    private void tick() {
        server.expire();
        world.after(50 * MILLI, this::tick);
    }

    private void addClient() {
        long rate = random.between(-plan.clientRateMax, plan.clientRateMax);
        long origin = random.chance(0.2) ? Long.MAX_VALUE - random.between(0, plan.chaos) : random.between(0, 1L << 50);
        SimClock clock = new SimClock(rate, origin, EPOCH_2026, random.chance(0.5));
        SimProcess process = new SimProcess(world, "p" + ++processes, clock);
        SimEnvironment environment = new SimEnvironment(world, process, clock, random.fork(), plan.lateness);
        RegisterClient client = new RegisterClient(this, process, environment, random.fork());
        clients.add(client);
        process.after(random.between(0, 20 * MILLI), client::open);
    }

    RegisterStore store(SimProcess process, SimEnvironment environment, SeededRandom its) {
        SimRegister register = new SimRegister(this, process, environment, its);
        registers.add(register);
        return clientRules.over(register, environment);
    }

    private void spread() {
        times(plan.pauses, () -> stop(SimProcess.Stop.PAUSED));
        times(plan.suspensions, () -> stop(SimProcess.Stop.SUSPENDED));
        times(plan.freezes, () -> stop(SimProcess.Stop.FROZEN));
        times(plan.kills, () -> {
            random.oneOf(clients).process.kill();
            if (rules.entriesEndWithWriter()) {
                world.after(plan.ttl, () -> registers.forEach(SimRegister::endIfDead));
            }
            addClient();
        });
        for (int i = 0; losesFollowers && i < 3; i++) {
            world.after(losses.between(100 * MILLI, plan.chaos), () -> {
                if (!isCalm) {
                    losses.oneOf(registers).shorten();
                }
            });
        }
    }

    /** Notes who wrote the index entry of a claim, where it is to end with its writer. */
    void wroteEntry(SimRegister writer, ClaimRef claim) {
        if (rules.entriesEndWithWriter()) {
            registers.forEach(register -> register.wroteEntry(claim, register == writer));
        }
    }

    /** A hold was lost, although no operator releases any here. */
    void lost(Loss loss) {
        if (loss.cause() != Loss.Cause.REMOVED) {
            return;
        }
        boolean isHeld =
                inspect(new Command.Inspect(loss.name(), Optional.empty(), 1, Command.Inspect.Scope.NAME)).stream()
                        .flatMap(info -> info.holders().stream())
                        .anyMatch(holder -> holder.tokens()
                                .filter(block -> block.first() <= loss.token() && loss.token() <= block.last())
                                .isPresent());
        if (isHeld) {
            world.fail(
                    Rule.HEALTHY_KEEPS,
                    "token " + loss.token() + " of " + loss.name() + " was lost, but is in its record");
        }
    }

    private void times(long count, Runnable event) {
        for (long i = 0; i < count; i++) {
            world.after(random.between(100 * MILLI, plan.chaos), () -> {
                if (!isCalm) {
                    event.run();
                }
            });
        }
    }

    private void stop(SimProcess.Stop how) {
        SimProcess process = random.oneOf(clients).process;
        if (process.isRunning()) {
            process.stop(how);
            long least = how == SimProcess.Stop.FROZEN ? Math.max(plan.ttl / 25, 50 * MILLI) : MILLI;
            world.after(Math.max(least, random.heavyTail(MILLI, 2 * plan.ttl)), process::resume);
        }
    }

    private void heal() {
        isCalm = true;
        network.clear();
        clients.forEach(client -> client.process.resume());
        clients.forEach(RegisterClient::calm);
    }

    private void checkNothingLeft() {
        List<ResourceInfo> left = inspect(new Command.Inspect("", Optional.empty(), 1_000));
        if (!left.isEmpty()) {
            world.fail(Rule.GIVEN_UP, "nobody holds anything, but there is " + left);
            world.after(0, () -> {});
            world.step();
        }
    }

    private List<ResourceInfo> inspect(Command.Inspect command) {
        SimClock clock = new SimClock(0, 0, EPOCH_2026, false);
        SimProcess process = new SimProcess(world, "observer", clock);
        SimEnvironment environment = new SimEnvironment(world, process, clock, new SeededRandom(1), 1);
        try (RegisterStore observer = RegisterStore.over(server.connect(), environment)) {
            Reply reply = observer.execute(command, CallerMode.ASYNC)
                    .toCompletableFuture()
                    .join();
            return ((Reply.Inspected) reply).resources();
        }
    }

    private void go(long nanos) {
        boolean[] over = new boolean[1];
        world.after(nanos, () -> over[0] = true);
        while (!over[0]) {
            world.step();
        }
    }
}
