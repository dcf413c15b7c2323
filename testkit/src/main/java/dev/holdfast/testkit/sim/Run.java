package dev.holdfast.testkit.sim;

import dev.holdfast.spi.ResourceName;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** One run of one seed: the world, all that is in it, and its two phases, chaos and calm. */
final class Run {

    private static final long MILLI = 1_000_000;
    private static final long LOOK_EVERY = 250 * MILLI;
    private static final long EPOCH_2026 = 1_767_225_600_000_000_000L;

    /** The latch of a run that has one. */
    static final String LATCH = "latch";

    /** Its election. */
    static final String ELECTION = "election";

    final World world;
    final Plan plan;
    final Reached reached = new Reached();
    final Ledger ledger;
    final SimServer server;
    final Weather weather;
    final Judge judge;
    final ClientUnderTest.Starter starter;
    private final Dice dice;
    private final List<Client> clients = new ArrayList<>();
    private final SimLink operator;
    private final Electorate electorate = new Electorate(this, ELECTION);
    private final Rush rush = new Rush(this);
    private int processes;
    private boolean isDraining;
    private long drainedBy;

    Run(long seed, Trace trace, ClientUnderTest.Starter starter, Supplier<SimStore> stores) {
        this.dice = new Dice(seed);
        this.world = new World(dice.fork(), trace);
        this.plan = new Plan(dice.fork());
        this.starter = starter;
        this.ledger = new Ledger(world, stores.get().isPassive(), reached);
        SimClock storeClock = new SimClock(plan.storeRate, 0, EPOCH_2026, false);
        this.server = new SimServer(world, storeClock, stores, ledger, reached);
        this.weather = new Weather(world, plan);
        this.judge = new Judge(world, plan, ledger, server, weather, reached);
        ledger.onGrant(electorate::storeElects);
        SimProcess console = new SimProcess(world, "operator", new SimClock(0, 0, EPOCH_2026, false));
        this.operator = new SimLink(
                world,
                console,
                server,
                weather,
                dice.fork(),
                new Client(this, console, environmentOf(console), dice.fork()));
    }

    /** Runs it to its end. */
    void toTheEnd() {
        for (int i = 0; i < plan.processes; i++) {
            addClient();
        }
        new Fate(this, dice.fork()).spread();
        world.after(plan.chaos, this::heal);
        while (!isDraining || !areActorsFinished()) {
            world.step();
        }
        if (plan.isRushed) {
            beginRush();
            while (!areActorsFinished()) {
                world.step();
            }
        }
        new Epilogue(this).play();
    }

    void addClient() {
        if (isDraining) {
            return;
        }
        long rate = dice.between(-plan.clientRateMax, plan.clientRateMax);
        // Near the end of its range now and then: times are compared by subtraction, or not at all.
        long origin = dice.chance(0.2) ? Long.MAX_VALUE - dice.between(0, plan.chaos) : dice.between(0, 1L << 50);
        long wallOff = dice.chance(0.3) ? dice.between(-3_600_000 * MILLI, 3_600_000 * MILLI) : 0;
        SimClock clock = new SimClock(rate, origin, EPOCH_2026 + wallOff, dice.chance(0.5));
        SimProcess process = new SimProcess(world, "p" + ++processes, clock);
        Client client = new Client(this, process, environmentOf(process), dice.fork());
        clients.add(client);
        process.after(dice.between(0, plan.thinkMax), client::open);
    }

    List<Client> clients() {
        return clients;
    }

    /** A person with tools, who does not hold anything. */
    SimLink operator() {
        return operator;
    }

    boolean isDraining() {
        return isDraining;
    }

    void noteDeath(Client client) {
        for (SimResource resource : plan.resources) {
            Holding holding = judge.anyInHand(resource.name());
            if (holding != null && holding.client == client) {
                reached.hit(Reach.DIED_HOLDING);
            }
        }
    }

    /** For the trace only. */
    void say(String what) {
        if (world.trace().isInWords()) {
            world.say(what);
        }
    }

    private SimEnvironment environmentOf(SimProcess process) {
        return new SimEnvironment(world, process, process.clock(), dice.fork(), plan.lateness);
    }

    /** Whether nothing goes wrong with a resource but what its users do. */
    boolean isUndisturbed(String resource) {
        return plan.isCalm && weather.isSpared(server.partitionOf(new ResourceName(resource)));
    }

    // ---- Calm

    /** The chaos is over: everything that lives goes on, and everybody who waits is to be served. */
    private void heal() {
        say("the chaos is over");
        weather.clear();
        server.comeUp();
        isDraining = true;
        for (Client client : clients) {
            client.process().resume();
            SimLink link = client.link();
            if (link != null) {
                link.heal();
            }
        }
        drainedBy = world.now() + drainBound();
        clients.forEach(Client::begin);
        lookAround();
    }

    Electorate electorate() {
        return electorate;
    }

    Rush rush() {
        return rush;
    }

    /** How many take part at present. */
    int countActors() {
        return clients.stream()
                .filter(client -> client.isOpen())
                .mapToInt(client -> client.actors().size())
                .sum();
    }

    /** In the rush nobody thinks for long. */
    long longestThought() {
        return rush.isOn() ? 2 * MILLI : Long.MAX_VALUE;
    }

    private void beginRush() {
        say("the rush begins");
        rush.begin();
        drainedBy = world.now() + drainBound() + 60_000 * MILLI;
        clients.stream()
                .filter(Client::isOpen)
                .forEach(client -> client.actors().forEach(Actor::rush));
    }

    /** By when all must be served: the leases of the dead, what was begun before, and a moment for each. */
    private long drainBound() {
        long actors = (long) clients.size() * plan.threads;
        return 4 * plan.ttl + 2 * plan.leaseMax + 3 * plan.storeTimeout + actors * 100 * MILLI + 5_000 * MILLI;
    }

    private void lookAround() {
        long asked = plan.ttl / 3 + plan.storeTimeout + 2 * plan.lateness + 100 * MILLI;
        ledger.checkProgress(server.micros(), asked);
        if (world.now() > drainedBy && !areActorsFinished()) {
            List<Participant> left = new ArrayList<>();
            clients.forEach(client -> client.participants().stream()
                    .filter(each -> !each.isFinished())
                    .forEach(left::add));
            world.fail(
                    Rule.EVERYTHING_ENDS,
                    left + " were not served within " + drainBound() / MILLI + " ms after the chaos");
        }
        world.after(LOOK_EVERY, this::lookAround);
    }

    private boolean areActorsFinished() {
        for (Client client : clients) {
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
