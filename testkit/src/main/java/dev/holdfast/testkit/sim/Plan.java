package dev.holdfast.testkit.sim;

import dev.holdfast.spi.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What one seed sets up: who takes part, how fast clocks run, and which faults happen how often. Each seed has a part
 * of the faults only: some bugs show only where something else stays whole.
 *
 * <p>Times are in nanoseconds, rates are probabilities of a single chance.
 */
final class Plan {

    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    /** What a resource is, where not all are mutexes. */
    private static final List<Kind> KINDS =
            List.of(Kind.MUTEX, Kind.READ_WRITE, Kind.READ_WRITE, Kind.SEMAPHORE, Kind.SEMAPHORE);

    /** What a seed dwells on: some situations are too rare where everything happens. */
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

    /** Whether after the calm everybody comes again and again. */
    final boolean isRushed;

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

    // Fate: how many of each there are on average in the chaos phase.
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

    /** Whether nothing goes wrong at all: then nothing may be lost, and nobody told that the store is away. */
    final boolean isCalm;

    private final Dice dice;

    Plan(Dice dice) {
        this.dice = dice;
        isCalm = dice.chance(0.15);
        Theme theme = isCalm || dice.chance(0.7) ? Theme.ANYTHING : dice.oneOf(List.of(Theme.values()));
        processes = (int) dice.between(1, 4);
        threads = (int) dice.between(processes == 1 ? 2 : 1, 4);
        boolean isMutexesOnly = theme == Theme.LOST_DATA || dice.chance(0.4);
        resources = draw(isMutexesOnly);
        ttl = dice.between(1_000, 4_000) * MILLI;
        cohortBudget = dice.oneOf(0, 2, 10, 10, 60) * MILLI;
        storeTimeout = dice.between(ttl / MILLI / 5, (dice.chance(0.2) ? 3 : 1) * ttl / MILLI) * MILLI;
        boolean isHot = theme == Theme.LOST_DATA;
        thinkMax = (isHot ? 1 : dice.oneOf(1, 20, 300, 1_500)) * MILLI;
        holdMax = (isHot ? 1 : dice.oneOf(1, 10, 100, 1_000, 2 * ttl / MILLI)) * MILLI;
        leaseMax = dice.between(300, 3_000) * MILLI;
        chaos = dice.between(3, 8) * ttl;

        tries = some(0.3, 0.15);
        maxWaits = some(0.5, 0.4);
        fixedLeases = theme == Theme.EXTENSIONS ? 0.7 : some(0.3, 0.5);
        maxHolds = some(0.2, 0.1);
        cancels = some(0.4, 0.2);
        extensions = theme == Theme.EXTENSIONS ? 0.8 : some(0.8, 1.0);
        doubleReleases = some(0.4, 0.1);
        abandons = some(0.2, 0.3);

        writes = dice.oneOf(5, 20, 50, 95) / 100.0;
        heavies = dice.oneOf(0, 5, 30) / 100.0;
        detached = some(0.5, 1.0);
        reentries = some(0.3, 0.6);
        multis = resources.size() > 1 && !isMutexesOnly ? some(0.3, 0.5) : 0;
        byId = some(0.3, 0.5);
        resizes = some(0.2, 0.2);
        isRushed = !isMutexesOnly && dice.chance(0.15);

        // Apart by less than a tenth in the worst case: that is the bound under which exclusion in true time is
        // promised.
        clientRateMax = dice.chance(0.3) ? 0 : dice.between(5_000, 40_000);
        storeRate = dice.chance(0.3) ? 0 : dice.between(-clientRateMax, clientRateMax);
        lateness = dice.oneOf(100_000, MILLI, 5 * MILLI);

        delayMin = dice.between(20_000, 200_000);
        delayMax = delayMin + dice.oneOf(50_000, MILLI, 10 * MILLI);
        longDelay = fault(0.3, 0.04);
        longDelayMax = dice.between(50, 2 * ttl / MILLI) * MILLI;
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
        expiresActively = dice.chance(0.3);

        hasLatch = dice.chance(0.15);
        hasElection = dice.chance(0.15);
        // Where nothing else goes on now and then.
        operations = (hasLatch || hasElection) && dice.chance(0.5) ? 1 : Math.min(12, 96 / (processes * threads));
    }

    private List<SimResource> draw(boolean isMutexesOnly) {
        List<SimResource> drawn = new ArrayList<>();
        int count = (int) dice.between(1, 2);
        boolean isBarging = dice.chance(0.15);
        for (int i = 0; i < count; i++) {
            Kind kind = isMutexesOnly ? Kind.MUTEX : dice.oneOf(KINDS);
            int capacity = switch (kind) {
                case READ_WRITE -> Integer.MAX_VALUE;
                case SEMAPHORE -> (int) dice.oneOf(1, 2, 3, 4, 8);
                default -> 1;
            };
            drawn.add(new SimResource("r" + i, kind, capacity, isBarging));
        }
        return List.copyOf(drawn);
    }

    /** For how long there is much to do, roughly: when faults do most harm. */
    long busy() {
        long contenders = Math.max(1, (long) processes * threads / resources.size());
        long round = thinkMax / 2 + contenders * holdMax / 3 + 4 * delayMax;
        return Math.min(chaos, operations * round + MILLI);
    }

    /** Whether the store keeps what it promised: then its holders exclude each other in true time. */
    boolean isStoreSound() {
        return storeSteps == 0 && !isAmnesic;
    }

    /** Whether every command is answered at once, whatever befalls processes and clocks. */
    boolean isNetworkClean() {
        double faults = longDelay + requestLoss + replyLoss + slowReply + refusal + breaking;
        return faults == 0 && partitions + outages == 0 && !isAmnesic;
    }

    /**
     * Within what time, while nothing is disturbed, what was asked of the store is answered and what nobody wants is
     * withdrawn.
     */
    long settledWithin() {
        return 10 * delayMax + 4 * lateness + 5 * MILLI;
    }

    /**
     * Within what time after its end the owner of a hold is told, if its process runs: a timer and a callback, both
     * late.
     */
    long toldWithin() {
        return 4 * lateness + 2 * MILLI;
    }

    private double some(double often, double most) {
        return dice.chance(often) ? most * dice.between(1, 1_000) / 1_000 : 0;
    }

    private double fault(double often, double most) {
        double drawn = some(often, most);
        return isCalm ? 0 : drawn;
    }

    private int happens(double often, int most) {
        int drawn = dice.chance(often) ? (int) dice.between(1, most) : 0;
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
                isRushed ? " rush" : "",
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
