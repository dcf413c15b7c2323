package dev.holdfast.testkit.sim;

import dev.holdfast.Environment;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.quorum.BrokenQuorums;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/*
 * Clients on a quorum of three or five reference stores, each with its own clock, network and faults. A minority of the
 * members is chosen for each seed; these go down, come back empty, and have their clocks stepped. Every way between a
 * client and a member loses, delays, doubles and cuts; every process pauses, sleeps and dies.
 *
 * In the other profiles each member in turn comes back empty or is cut off, round after round, and nothing else fails
 * but the processes of those who contend. Where the quorum claims things again, what the first client holds from before
 * the first round must be held after the last.
 */

/** One run of one seed on a quorum. */
public final class QuorumRun {

    private static final long MILLI = 1_000_000;
    private static final long HOUR = 3_600_000 * MILLI;
    private static final long EPOCH_2026 = 1_767_225_600_000_000_000L;

    static final String MUTEX = "mutex";
    static final String BOTH = "both";

    static final LinkListener NO_LISTENER = new LinkListener() {
        @Override
        public void sent(Command command) {}

        @Override
        public void answered(Command command, Reply reply, long sentAt) {}

        @Override
        public void failed(Command command, StoreException.Effect effect) {}

        @Override
        public void signalled(Signal signal) {}

        @Override
        public void signalLost(Signal signal) {}
    };

    /** What befalls a quorum. */
    public enum Profile {
        /** Everything that a minority may suffer. */
        FAULTS,
        /** All members are replaced by empty ones or cut off from the one who holds something, one after another. */
        REPLACEMENTS,
        /** All members are cut off from the one who holds something, one after another; it may lose it. */
        CUTS
    }

    /** Makes the quorums of the clients. */
    interface Maker {
        LockStore of(List<SimLink> links, Environment environment);
    }

    final World world;
    final Plan plan;
    final NetworkConditions network;
    final HoldJudge holdOracle;
    final ClientUnderTest.Starter starter;
    final Maker quorum;
    final List<SimServer> servers = new ArrayList<>();
    final Profile profile;

    /** Whether the clocks of the members differ by more than unheld tokens tolerate. */
    final boolean areClocksFarApart;

    boolean isCalm;
    private final SeededRandom random;
    private final Trace trace;
    private final List<QuorumClient> clients = new ArrayList<>();
    private final int faulty;
    private final long chaos;
    private int processes;

    private QuorumRun(long seed, Profile profile, Trace trace, ClientUnderTest.Starter starter, BrokenQuorums rules) {
        this.profile = profile;
        this.trace = trace;
        this.random = new SeededRandom(seed);
        this.world = new World(random.fork(), trace);
        this.plan = new Plan(random.fork());
        this.network = new NetworkConditions(world, plan);
        this.holdOracle = new HoldJudge(world);
        this.chaos = Math.min(plan.chaos, 3 * plan.ttl);
        this.starter = starter;
        int members = random.chance(0.7) ? 3 : 5;
        this.faulty = (int) random.between(0, (members - 1) / 2);
        long skew = random.oneOf(0, 1, 20, 200) * MILLI;
        this.areClocksFarApart = profile == Profile.REPLACEMENTS && random.chance(0.5);
        if (areClocksFarApart) {
            skew = HOUR;
        }
        Coverage coverage = new Coverage();
        for (int i = 0; i < members; i++) {
            // A member that was raised above its clock and then lost its data gives lesser tokens: what it does alone
            // is not judged.
            StoreOracle storeOracle = new StoreOracle(new World(random.fork(), Trace.hashOnly()), false, coverage);
            SimClock clock = new SimClock(plan.storeRate, 0, EPOCH_2026 + random.between(-skew, skew), false);
            servers.add(new SimServer(world, clock, SimStore::reference, storeOracle, coverage));
        }
        Duration patience = Duration.ofNanos(Math.max(5 * MILLI, plan.storeTimeout / 3));
        this.quorum = (links, environment) -> rules.of(links, environment, patience, Duration.ofNanos(plan.ttl));
    }

    /** What a run came to. */
    public record Result(long hash, long events, int grants) {}

    /**
     * Runs one seed.
     *
     * @throws SimulationFailure if a rule was broken
     */
    public static Result run(long seed, Profile profile, ClientUnderTest.Starter starter, BrokenQuorums rules) {
        return play(new QuorumRun(seed, profile, Trace.hashOnly(), starter, rules));
    }

    /** Runs one seed and shows the last lines of what happened if it fails. */
    public static Result inWords(long seed, Profile profile, ClientUnderTest.Starter starter, BrokenQuorums rules) {
        Trace trace = Trace.inWords(400);
        try {
            return play(new QuorumRun(seed, profile, trace, starter, rules));
        } catch (SimulationFailure failure) {
            throw failure.withReplay(seed, "", trace.lines(), "seed " + seed);
        }
    }

    private static Result play(QuorumRun run) {
        Thread thread = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
        thread.setUncaughtExceptionHandler(
                (unused, thrown) -> run.world.fail(Rule.NO_EXCEPTION, "in an event: " + thrown));
        try {
            run.toTheEnd();
        } finally {
            thread.setUncaughtExceptionHandler(before);
        }
        return new Result(run.trace.hash(), run.world.events(), run.holdOracle.grants);
    }

    private void toTheEnd() {
        for (int i = 0; i < Math.max(2, plan.processes); i++) {
            addClient();
        }
        if (profile == Profile.FAULTS) {
            spread();
            go(chaos);
        } else {
            replaceAll();
        }
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
        // What was cancelled, refused or lost has left nothing, although the sessions live on.
        go(4 * plan.ttl + plan.holdMax);
        servers.forEach(this::checkNothingLeft);
        world.after(0, () -> {});
        world.step();
    }

    private void addClient() {
        long rate = random.between(-plan.clientRateMax, plan.clientRateMax);
        long origin = random.chance(0.2) ? Long.MAX_VALUE - random.between(0, chaos) : random.between(0, 1L << 50);
        SimClock clock = new SimClock(rate, origin, EPOCH_2026, random.chance(0.5));
        SimProcess process = new SimProcess(world, "p" + ++processes, clock);
        SimEnvironment environment = new SimEnvironment(world, process, clock, random.fork(), plan.lateness);
        QuorumClient client = new QuorumClient(
                this, process, environment, random.fork(), profile != Profile.FAULTS && clients.isEmpty());
        clients.add(client);
        process.after(random.between(0, 20 * MILLI), client::open);
    }

    // ---- Replacements

    private void replaceAll() {
        network.clear();
        QuorumClient keeper = clients.get(0);
        awaitKept(keeper);
        long rounds = random.between(2, 3);
        // A member counts again after the longest lease and a tenth more, and keep-alives are sent every third of a
        // ttl:
        // one finds that the session has ended, one opens another, one claims again, and two are for tries that failed.
        long settled = plan.ttl + plan.ttl / 10 + 5 * plan.ttl / 3 + 20 * plan.lateness;
        go(settled);
        keeper.checkKept();
        times(plan.pauses + plan.kills, settled * rounds * servers.size(), this::disturbContender);
        for (int round = 0; round < rounds; round++) {
            for (SimServer server : servers) {
                if (profile == Profile.CUTS || random.chance(0.3)) {
                    long cut = plan.ttl + random.between(plan.ttl / 5, plan.ttl);
                    network.cut(keeper.links.get(servers.indexOf(server)), true, true, cut);
                    go(cut);
                } else {
                    outage(server, true);
                    go(plan.ttl / 4);
                }
                go(settled + settled / 10);
                if (profile == Profile.REPLACEMENTS) {
                    keeper.checkKept();
                } else {
                    keeper.keepAgain();
                }
            }
        }
    }

    private void awaitKept(QuorumClient keeper) {
        long until = world.now() + 20 * plan.ttl;
        while (keeper.kept() < 2) {
            if (world.now() > until) {
                world.fail(Rule.EVERYTHING_ENDS, "the first client was not served");
            }
            world.step();
        }
    }

    private void disturbContender() {
        SimProcess process = clients.get(1 + random.below(clients.size() - 1)).process;
        if (process.isRunning() && random.chance(0.5)) {
            process.stop(SimProcess.Stop.PAUSED);
            world.after(random.heavyTail(MILLI, 2 * plan.ttl), process::resume);
        } else {
            process.kill();
            addClient();
        }
    }

    // ---- Faults

    private void spread() {
        times(random.between(0, 6), () -> cut(random.oneOf(clients)));
        times(plan.pauses, () -> stop(SimProcess.Stop.PAUSED));
        times(plan.suspensions, () -> stop(SimProcess.Stop.SUSPENDED));
        times(plan.freezes, () -> stop(SimProcess.Stop.FROZEN));
        times(plan.kills, this::kill);
        if (faulty > 0) {
            times(random.between(0, 3), () -> outage(faultyServer(), false));
            times(random.between(0, 2), () -> faultyServer().stepClock(step()));
        }
    }

    private void times(long count, Runnable event) {
        times(count, chaos, event);
    }

    private void times(long count, long within, Runnable event) {
        for (long i = 0; i < count; i++) {
            world.after(random.between(100 * MILLI, within), () -> {
                if (!isCalm) {
                    event.run();
                }
            });
        }
    }

    private SimServer faultyServer() {
        return servers.get(random.below(faulty));
    }

    private long step() {
        long size = random.heavyTail(50 * MILLI, 3 * plan.ttl);
        return random.chance(0.5) ? size : -size;
    }

    private void cut(QuorumClient client) {
        if (!client.links.isEmpty()) {
            int way = random.below(3);
            network.cut(random.oneOf(client.links), way != 2, way != 1, random.heavyTail(10 * MILLI, 2 * plan.ttl));
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

    private void kill() {
        random.oneOf(clients).process.kill();
        addClient();
    }

    private void outage(SimServer server, boolean losesData) {
        if (!server.isUp()) {
            return;
        }
        boolean isAmnesic = losesData || random.chance(0.7);
        server.goDown();
        int index = servers.indexOf(server);
        for (QuorumClient client : clients) {
            if (!client.links.isEmpty()) {
                client.links.get(index).breakAll();
            }
        }
        long longest = profile == Profile.FAULTS ? plan.ttl : plan.ttl / 4;
        world.after(random.heavyTail(MILLI, longest), () -> {
            if (isAmnesic) {
                server.loseEverything();
            }
            server.comeUp();
        });
    }

    // ---- Calm

    private void heal() {
        isCalm = true;
        network.clear();
        servers.forEach(SimServer::comeUp);
        for (QuorumClient client : clients) {
            client.process.resume();
            client.links.forEach(SimLink::heal);
        }
        clients.forEach(QuorumClient::calm);
    }

    private void checkNothingLeft(SimServer server) {
        SimLink link = clients.get(0).links.get(0);
        Reply reply = server.apply(new Command.Inspect("", Optional.empty(), 1_000), link);
        for (ResourceInfo info : ((Reply.Inspected) reply).resources()) {
            if (info.name().value().charAt(0) > ' ') {
                world.fail(Rule.GIVEN_UP, "nobody holds anything, but " + servers.indexOf(server) + " has " + info);
            }
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
