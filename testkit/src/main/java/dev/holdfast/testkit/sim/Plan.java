package dev.holdfast.testkit.sim;

import dev.holdfast.spi.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The set-up of one seed: participants, speed of clocks, and rates of faults. Each seed has a part of the faults only,
 * because some bugs show only where everything else works.
 *
 * <p>Times are in nanoseconds, rates are probabilities of a single event.
 */
final class Plan {

    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    /** The kinds of resources, where not all are mutexes. */
    private static final List<Kind> KINDS =
            List.of(Kind.MUTEX, Kind.READ_WRITE, Kind.READ_WRITE, Kind.SEMAPHORE, Kind.SEMAPHORE);

    /** The emphasis of a seed: some situations are too rare where everything happens. */
    private enum Theme {
        ANYTHING,
        EXTENSIONS,
        AMBUSHES,
        LOST_DATA
    }

    // Who takes part.
    final int processes;
    final int threads;
    final List<SimResource> resources;
    final int operations;
    final long ttl;
    final long cohortBudget;
    final long storeTimeout;
    final long thinkMax;
    final long holdMax;
    final long leaseMax;
    final long chaos;

    // What they do.
    final double tries;
    final double maxWaits;
    final double fixedLeases;
    final double maxHolds;
    final double cancels;
    final double extensions;
    final double doubleReleases;
    final double abandons;

    // What they do with other things than mutexes.
    final double writes;
    final double heavies;
    final double detached;
    final double reentries;
    final double multis;
    final double byId;
    final double resizes;

    /** Whether there is a latch as well. */
    final boolean hasLatch;

    /** Whether there is an election as well. */
    final boolean hasElection;

    /** Whether the run ends with the {@link StarvationCheck}. */
    final boolean checksStarvation;

    // Clocks.
    final long clientRateMax;
    final long storeRate;
    final long lateness;

    // The network.
    final long delayMin;
    final long delayMax;
    final double longDelay;
    final long longDelayMax;
    final double requestLoss;
    final double replyLoss;
    final double slowReply;
    final double refusal;
    final double breaking;
    final double lateCopy;
    final double harmlessCopy;
    final double signalLoss;
    final double signalCopy;
    final double inline;

    // Faults: their average numbers in the chaos phase.
    final int partitions;
    final int pauses;
    final int suspensions;
    final int freezes;
    final int wallSteps;
    final int kills;
    final int closes;
    final int outages;
    final int storeSteps;
    final int forced;
    final int ambushes;
    final boolean isAmnesic;
    final boolean expiresActively;

    /** Whether there are no faults: then nothing may be lost, and no request may find the store unavailable. */
    final boolean isCalm;

    private final SeededRandom random;

    Plan(SeededRandom random) {
        this.random = random;
        isCalm = random.chance(0.15);
        Theme theme = isCalm || random.chance(0.7) ? Theme.ANYTHING : random.oneOf(List.of(Theme.values()));
        processes = (int) random.between(1, 4);
        threads = (int) random.between(processes == 1 ? 2 : 1, 4);
        boolean isMutexesOnly = theme == Theme.LOST_DATA || random.chance(0.4);
        resources = draw(isMutexesOnly);
        ttl = random.between(1_000, 4_000) * MILLI;
        cohortBudget = random.oneOf(0, 2, 10, 10, 60) * MILLI;
        storeTimeout = random.between(ttl / MILLI / 5, (random.chance(0.2) ? 3 : 1) * ttl / MILLI) * MILLI;
        boolean isHot = theme == Theme.LOST_DATA;
        thinkMax = (isHot ? 1 : random.oneOf(1, 20, 300, 1_500)) * MILLI;
        holdMax = (isHot ? 1 : random.oneOf(1, 10, 100, 1_000, 2 * ttl / MILLI)) * MILLI;
        leaseMax = random.between(300, 3_000) * MILLI;
        chaos = random.between(3, 8) * ttl;

        tries = some(0.3, 0.15);
        maxWaits = some(0.5, 0.4);
        fixedLeases = theme == Theme.EXTENSIONS ? 0.7 : some(0.3, 0.5);
        maxHolds = some(0.2, 0.1);
        cancels = some(0.4, 0.2);
        extensions = theme == Theme.EXTENSIONS ? 0.8 : some(0.8, 1.0);
        doubleReleases = some(0.4, 0.1);
        abandons = some(0.2, 0.3);

        writes = random.oneOf(5, 20, 50, 95) / 100.0;
        heavies = random.oneOf(0, 5, 30) / 100.0;
        detached = some(0.5, 1.0);
        reentries = some(0.3, 0.6);
        multis = resources.size() > 1 && !isMutexesOnly ? some(0.3, 0.5) : 0;
        byId = some(0.3, 0.5);
        resizes = some(0.2, 0.2);
        checksStarvation = !isMutexesOnly && random.chance(0.15);

        // The clocks differ by less than a tenth: exclusion in true time is promised up to that bound.
        clientRateMax = random.chance(0.3) ? 0 : random.between(5_000, 40_000);
        storeRate = random.chance(0.3) ? 0 : random.between(-clientRateMax, clientRateMax);
        lateness = random.oneOf(100_000, MILLI, 5 * MILLI);

        delayMin = random.between(20_000, 200_000);
        delayMax = delayMin + random.oneOf(50_000, MILLI, 10 * MILLI);
        longDelay = fault(0.3, 0.04);
        longDelayMax = random.between(50, 2 * ttl / MILLI) * MILLI;
        requestLoss = fault(0.3, 0.05);
        replyLoss = fault(0.3, 0.05);
        slowReply = fault(0.15, 0.2);
        refusal = fault(0.15, 0.05);
        breaking = fault(0.3, 0.03);
        lateCopy = fault(0.5, 0.7);
        harmlessCopy = theme == Theme.EXTENSIONS ? 0.25 : fault(0.2, 0.2);
        signalLoss = fault(0.3, 0.3);
        signalCopy = fault(0.2, 0.2);
        inline = some(0.1, 1.0);

        partitions = happens(0.3, 3);
        pauses = happens(0.3, 4);
        suspensions = happens(0.2, 3);
        freezes = happens(0.15, 2);
        wallSteps = happens(0.2, 4);
        kills = processes > 1 ? happens(0.25, 2) : 0;
        closes = happens(0.2, 2);
        outages = happens(0.2, 2);
        storeSteps = isHot ? 0 : happens(0.08, 2);
        forced = happens(0.08, 2);
        ambushes = theme == Theme.AMBUSHES ? 12 : happens(0.3, 5);
        isAmnesic = isHot || (happens(0.05, 1) > 0 && storeSteps == 0);
        expiresActively = random.chance(0.3);

        hasLatch = random.chance(0.15);
        hasElection = random.chance(0.15);
        // Sometimes almost alone.
        operations = (hasLatch || hasElection) && random.chance(0.5) ? 1 : Math.min(12, 96 / (processes * threads));
    }

    private List<SimResource> draw(boolean isMutexesOnly) {
        List<SimResource> drawn = new ArrayList<>();
        int count = (int) random.between(1, 2);
        boolean isBarging = random.chance(0.15);
        for (int i = 0; i < count; i++) {
            Kind kind = isMutexesOnly ? Kind.MUTEX : random.oneOf(KINDS);
            int capacity = switch (kind) {
                case READ_WRITE -> Integer.MAX_VALUE;
                case SEMAPHORE -> (int) random.oneOf(1, 2, 3, 4, 8);
                default -> 1;
            };
            drawn.add(new SimResource("r" + i, kind, capacity, isBarging));
        }
        return List.copyOf(drawn);
    }

    /** Roughly the duration of the high load, in which faults do most harm. */
    long busy() {
        long contenders = Math.max(1, (long) processes * threads / resources.size());
        long round = thinkMax / 2 + contenders * holdMax / 3 + 4 * delayMax;
        return Math.min(chaos, operations * round + MILLI);
    }

    /** Whether the store keeps its promises, so that its holders exclude each other in true time. */
    boolean isStoreSound() {
        return storeSteps == 0 && !isAmnesic;
    }

    /** Whether every command is answered at once, whatever happens to processes and clocks. */
    boolean isNetworkClean() {
        double faults = longDelay + requestLoss + replyLoss + slowReply + refusal + breaking;
        return faults == 0 && partitions + outages == 0 && !isAmnesic;
    }

    /** The time, without faults, in which commands are answered and unwanted claims withdrawn. */
    long settledWithin() {
        return 10 * delayMax + 4 * lateness + 5 * MILLI;
    }

    /**
     * The time after its end in which the owner of a hold is notified, if its process runs: a timer and a callback,
     * both late.
     */
    long toldWithin() {
        return 4 * lateness + 2 * MILLI;
    }

    private double some(double often, double most) {
        return random.chance(often) ? most * random.between(1, 1_000) / 1_000 : 0;
    }

    private double fault(double often, double most) {
        double drawn = some(often, most);
        return isCalm ? 0 : drawn;
    }

    private int happens(double often, int most) {
        int drawn = random.chance(often) ? (int) random.between(1, most) : 0;
        return isCalm ? 0 : drawn;
    }

    @Override
    public String toString() {
        return String.format(
                "%d processes x %d threads x %d operations on %s, ttl %d ms, cohort %d ms, time-out %d ms,"
                        + " chaos %d ms%n"
                        + "think %d ms, hold %d ms, lease %d ms, rates +-%d ppm, store %d ppm, lateness %d us,"
                        + " delay %d-%d us%n"
                        + "tries %.2f waits %.2f leases %.2f maxHolds %.2f cancels %.2f extensions %.2f twice %.2f"
                        + " abandons %.2f%n"
                        + "writes %.2f heavies %.2f detached %.2f re-entries %.2f several %.2f by id %.2f"
                        + " resizes %.2f%s%s%s%n"
                        + "long delay %.3f (%d ms) lost %.3f/%.3f slow %.3f refused %.3f broken %.3f late copies %.2f"
                        + " copies %.2f signals lost %.2f copied %.2f inline %.2f%n"
                        + "partitions %d pauses %d suspensions %d freezes %d wall %d kills %d closes %d outages %d"
                        + " store steps %d forced %d ambushes %d amnesia %s active expiry %s%s",
                processes,
                threads,
                operations,
                resources,
                ttl / MILLI,
                cohortBudget / MILLI,
                storeTimeout / MILLI,
                chaos / MILLI,
                thinkMax / MILLI,
                holdMax / MILLI,
                leaseMax / MILLI,
                clientRateMax,
                storeRate,
                lateness / 1_000,
                delayMin / 1_000,
                delayMax / 1_000,
                tries,
                maxWaits,
                fixedLeases,
                maxHolds,
                cancels,
                extensions,
                doubleReleases,
                abandons,
                writes,
                heavies,
                detached,
                reentries,
                multis,
                byId,
                resizes,
                hasLatch ? " latch" : "",
                hasElection ? " election" : "",
                checksStarvation ? " rush" : "",
                longDelay,
                longDelayMax / MILLI,
                requestLoss,
                replyLoss,
                slowReply,
                refusal,
                breaking,
                lateCopy,
                harmlessCopy,
                signalLoss,
                signalCopy,
                inline,
                partitions,
                pauses,
                suspensions,
                freezes,
                wallSteps,
                kills,
                closes,
                outages,
                storeSteps,
                forced,
                ambushes,
                isAmnesic,
                expiresActively,
                isCalm ? ", calm" : "");
    }
}
