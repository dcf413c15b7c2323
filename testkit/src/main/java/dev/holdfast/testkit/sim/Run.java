package dev.holdfast.testkit.sim;

import dev.holdfast.spi.ResourceName;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** One run of one seed: the world, its participants, and the phases of chaos and calm. */
final class Run {

    private static final long MILLI = 1_000_000;
    private static final long CHECK_EVERY = 250 * MILLI;
    private static final long EPOCH_2026 = 1_767_225_600_000_000_000L;

    /** The latch, in a run that has one. */
    static final String LATCH = "latch";

    /** The election, in a run that has one. */
    static final String ELECTION = "election";

    final World world;
    final Plan plan;
    final Coverage coverage = new Coverage();
    final StoreOracle storeOracle;
    final SimServer server;
    final NetworkConditions network;
    final HoldOracle holdOracle;
    final ClientUnderTest.Starter starter;
    private final SeededRandom random;
    private final List<SimClient> clients = new ArrayList<>();
    private final SimLink operator;
    private final Electorate electorate = new Electorate(this, ELECTION);
    private final StarvationCheck starvationCheck = new StarvationCheck(this);
    private int processes;
    private boolean isDraining;
    private long drainedBy;

    Run(long seed, Trace trace, ClientUnderTest.Starter starter, Supplier<SimStore> stores) {
        this.random = new SeededRandom(seed);
        this.world = new World(random.fork(), trace);
        this.plan = new Plan(random.fork());
        this.starter = starter;
        this.storeOracle = new StoreOracle(world, stores.get().isPassive(), coverage);
        SimClock storeClock = new SimClock(plan.storeRate, 0, EPOCH_2026, false);
        this.server = new SimServer(world, storeClock, stores, storeOracle, coverage);
        this.network = new NetworkConditions(world, plan);
        this.holdOracle = new HoldOracle(world, plan, storeOracle, server, network, coverage);
        storeOracle.onGrant(electorate::storeElects);
        SimProcess console = new SimProcess(world, "operator", new SimClock(0, 0, EPOCH_2026, false));
        this.operator = new SimLink(
                world,
                console,
                server,
                network,
                random.fork(),
                new SimClient(this, console, environmentOf(console), random.fork()));
    }

    /** Runs all phases. */
    void toTheEnd() {
        for (int i = 0; i < plan.processes; i++) {
            addClient();
        }
        new FaultSchedule(this, random.fork()).spread();
        world.after(plan.chaos, this::heal);
        while (!isDraining || !areActorsFinished()) {
            world.step();
        }
        if (plan.checksStarvation) {
            beginStarvationCheck();
            while (!areActorsFinished()) {
                world.step();
            }
        }
        new LeakCheck(this).run();
    }

    void addClient() {
        if (isDraining) {
            return;
        }
        long rate = random.between(-plan.clientRateMax, plan.clientRateMax);
        // Sometimes near the end of its range: times must be compared by subtraction.
        long origin = random.chance(0.2) ? Long.MAX_VALUE - random.between(0, plan.chaos) : random.between(0, 1L << 50);
        long wallOff = random.chance(0.3) ? random.between(-3_600_000 * MILLI, 3_600_000 * MILLI) : 0;
        SimClock clock = new SimClock(rate, origin, EPOCH_2026 + wallOff, random.chance(0.5));
        SimProcess process = new SimProcess(world, "p" + ++processes, clock);
        SimClient client = new SimClient(this, process, environmentOf(process), random.fork());
        clients.add(client);
        process.after(random.between(0, plan.thinkMax), client::open);
    }

    List<SimClient> clients() {
        return clients;
    }

    /** The link of an operator, who holds nothing. */
    SimLink operator() {
        return operator;
    }

    boolean isDraining() {
        return isDraining;
    }

    void noteDeath(SimClient client) {
        for (SimResource resource : plan.resources) {
            Holding holding = holdOracle.anyInHand(resource.name());
            if (holding != null && holding.client == client) {
                coverage.hit(CoveragePoint.DIED_HOLDING);
            }
        }
    }

    /** Adds to the trace. */
    void say(String what) {
        if (world.trace().isInWords()) {
            world.say(what);
        }
    }

    private SimEnvironment environmentOf(SimProcess process) {
        return new SimEnvironment(world, process, process.clock(), random.fork(), plan.lateness);
    }

    /** Whether only its users affect a resource. */
    boolean isUndisturbed(String resource) {
        return plan.isCalm && network.isSpared(server.partitionOf(new ResourceName(resource)));
    }

    // ---- Calm

    /** Ends the chaos: all live processes resume, and all waiters must be served. */
    private void heal() {
        say("the chaos is over");
        network.clear();
        server.comeUp();
        isDraining = true;
        for (SimClient client : clients) {
            client.process().resume();
            SimLink link = client.link();
            if (link != null) {
                link.heal();
            }
        }
        drainedBy = world.now() + drainBound();
        clients.forEach(SimClient::begin);
        checkProgress();
    }

    Electorate electorate() {
        return electorate;
    }

    StarvationCheck starvationCheck() {
        return starvationCheck;
    }

    /** The number of actors of open clients. */
    int countActors() {
        return clients.stream()
                .filter(client -> client.isOpen())
                .mapToInt(client -> client.actors().size())
                .sum();
    }

    /** The longest pause of an actor, which is short in the {@link StarvationCheck}. */
    long longestThought() {
        return starvationCheck.isOn() ? 2 * MILLI : Long.MAX_VALUE;
    }

    private void beginStarvationCheck() {
        say("the rush begins");
        starvationCheck.begin();
        drainedBy = world.now() + drainBound() + 60_000 * MILLI;
        clients.stream()
                .filter(SimClient::isOpen)
                .forEach(client -> client.actors().forEach(Actor::beginStarvationCheck));
    }

    /** How long the final phase may take: the leases of dead clients, earlier requests, and a moment for each actor. */
    private long drainBound() {
        long actors = (long) clients.size() * plan.threads;
        return 4 * plan.ttl + 2 * plan.leaseMax + 3 * plan.storeTimeout + actors * 100 * MILLI + 5_000 * MILLI;
    }

    private void checkProgress() {
        long asked = plan.ttl / 3 + plan.storeTimeout + 2 * plan.lateness + 100 * MILLI;
        storeOracle.checkProgress(server.micros(), asked);
        if (world.now() > drainedBy && !areActorsFinished()) {
            List<Participant> left = new ArrayList<>();
            clients.forEach(client -> client.participants().stream()
                    .filter(each -> !each.isFinished())
                    .forEach(left::add));
            world.fail(
                    Rule.EVERYTHING_ENDS,
                    left + " were not served within " + drainBound() / MILLI + " ms after the chaos");
        }
        world.after(CHECK_EVERY, this::checkProgress);
    }

    private boolean areActorsFinished() {
        for (SimClient client : clients) {
            if (client.process().isDead() || client.isClosing()) {
                continue;
            }
            if (client.actors().isEmpty()) {
                return false;
            }
            for (Participant each : client.participants()) {
                if (!each.isFinished()) {
                    return false;
                }
            }
        }
        return true;
    }
}
