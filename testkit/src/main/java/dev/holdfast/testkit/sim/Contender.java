package dev.holdfast.testkit.sim;

import dev.holdfast.ClientClosedException;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.Candidate;
import dev.holdfast.election.LeaderElection;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * One candidate of an election: it campaigns, leads, fails, resigns, leaves and returns. In the end it campaigns once
 * more, and must be elected.
 */
final class Contender implements Candidate, Participant {

    private static final long MILLI = 1_000_000;
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(300);
    private static final int TERMS = 12;

    /** Thrown by a candidate. */
    private static final class Failed extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private final Run run;
    private final SimClient client;
    private final SeededRandom random;
    private final String name;
    private final LeaderElection election;
    private final Electorate others;
    private final Executor executor;
    private @Nullable Campaign campaign;
    private @Nullable Leadership term;
    private int terms;
    private long overSince = Long.MAX_VALUE;
    private boolean hasLeft = true;
    private boolean hasServed;

    Contender(Run run, SimClient client, SeededRandom random, String name, String election, Executor executor) {
        this.run = run;
        this.client = client;
        this.random = random;
        this.name = name;
        this.election = client.subject().election(election);
        this.others = run.electorate();
        this.executor = executor;
        others.add(this);
    }

    @Override
    public boolean isFinished() {
        return client.process().isDead() || (hasServed && hasLeft);
    }

    SimClient client() {
        return client;
    }

    /** The term in which it believes that it leads. */
    @Nullable
    Leadership term() {
        return term;
    }

    @Override
    public String toString() {
        return name;
    }

    /** Campaigns; or leaves, if it already leads in the final phase. */
    @Override
    public void begin() {
        if (!client.isOpen()) {
            return;
        }
        if (hasLeft && (run.isDraining() || terms < TERMS)) {
            stand();
        } else if (run.isDraining() && term != null) {
            leave();
        }
    }

    private void stand() {
        run.say(name + " stands for election");
        hasLeft = false;
        CampaignOptions options = CampaignOptions.defaults()
                .withLongestPause(LONGEST_PAUSE)
                .withShortestPause(SHORTEST_PAUSE)
                .withExecutor(executor);
        Campaign fresh = election.campaign(options, this);
        campaign = fresh;
        fresh.ended().whenComplete((nothing, failure) -> left(failure));
        if (!run.isDraining() && random.chance(run.plan.cancels)) {
            client.process().after(random.heavyTail(10_000, run.plan.ttl), this::leave);
        }
    }

    private void leave() {
        Campaign present = campaign;
        if (present != null && !hasLeft) {
            run.say(name + " leaves");
            hasServed |= run.isDraining() && term != null;
            present.closeAsync();
        }
    }

    private void left(@Nullable Throwable failure) {
        run.say(name + " has left");
        hasLeft = true;
        if (failure != null) {
            run.world.fail(Rule.TERMS_ARE_TOLD, name + "'s campaign ended with " + failure);
        }
        Leadership last = term;
        if (last != null) {
            run.world.fail(Rule.TERMS_ARE_TOLD, name + "'s campaign is over, but not its term " + last.term());
        }
        if (client.isOpen() && !hasServed) {
            client.process().after(random.between(0, run.plan.thinkMax), this::begin);
        }
    }

    // ---- Callbacks

    @Override
    public void onElected(Leadership leadership) {
        run.say(name + " is told that it leads in term " + leadership.term());
        Leadership before = term;
        if (before != null) {
            run.world.fail(
                    Rule.TERMS_ARE_TOLD,
                    name + " is told of term " + leadership.term() + " before the end of " + before.term());
        }
        if (hasLeft) {
            run.world.fail(Rule.WHO_LEFT_LEADS_NO_MORE, name + " is elected after its campaign has ended");
        }
        term = leadership;
        terms++;
        overSince = Long.MAX_VALUE;
        run.world.trace().mix(leadership.term());
        run.coverage.hit(CoveragePoint.ELECTED);
        others.begins(this, leadership);
        checkLeadership(leadership);
        if (run.isDraining()) {
            client.process().after(random.between(0, 5 * MILLI), this::leave);
        } else if (random.chance(0.1)) {
            run.coverage.hit(CoveragePoint.CANDIDATE_FAILED);
            throw new Failed();
        } else if (random.chance(0.7)) {
            client.process().after(random.heavyTail(MILLI, run.plan.holdMax), () -> resign(leadership));
        }
    }

    private void resign(Leadership leadership) {
        if (random.chance(0.3)) {
            run.say(name + " resigns from term " + leadership.term() + " and leaves");
            leadership.resignAndLeave();
        } else if (leadership.resign()) {
            run.say(name + " resigns from term " + leadership.term());
        }
    }

    @Override
    public void onTermEnd(Leadership leadership, TermEnd end) {
        run.say(name + " is told the end of term " + leadership.term() + ": " + end.reason());
        if (leadership != term) {
            run.world.fail(
                    Rule.TERMS_ARE_TOLD, name + " is told the end of term " + leadership.term() + ", but has " + term);
        }
        if (leadership.isLeader()) {
            run.world.fail(Rule.TERMS_ARE_TOLD, name + " leads in term " + leadership.term() + " after its end");
        }
        boolean isLost = end.reason() == TermEnd.Reason.LOST;
        if (isLost) {
            run.coverage.hit(CoveragePoint.TERM_LOST);
            if (run.isUndisturbed(Run.ELECTION) && !client.isClosing()) {
                run.world.fail(Rule.HEALTHY_KEEPS, name + " lost term " + leadership.term() + " undisturbed");
            }
        } else if (run.plan.isStoreSound() && !client.isClosing()) {
            others.checkKept(this, leadership);
        }
        term = null;
    }

    @Override
    public void onError(Throwable failure) {
        boolean isTrouble = !run.isUndisturbed(Run.ELECTION)
                || failure instanceof Failed
                || failure instanceof ClientClosedException;
        if (!isTrouble) {
            run.world.fail(Rule.THREE_OUTCOMES, name + " is told of trouble, though nothing was disturbed: " + failure);
        }
    }

    // ---- Checks

    /** Polls whether it leads. */
    private void checkLeadership(Leadership leadership) {
        if (leadership != term || client.process().isDead()) {
            return;
        }
        if (leadership.isLeader()) {
            others.checkLeads(this, leadership);
        } else if (leadership.remaining().isZero()) {
            long now = run.world.now();
            overSince = Math.min(overSince, now);
            // A timer reports the end, through the executor twice.
            long within = 3 * run.plan.toldWithin() + 50 * MILLI;
            if (now - Math.max(overSince, client.process().runningSince()) > within) {
                run.world.fail(Rule.LEADS_NO_MORE, name + "'s term " + leadership.term() + " is over, untold");
            }
        }
        client.process().after(Math.max(MILLI, run.plan.ttl / 50), () -> checkLeadership(leadership));
    }

    /** Checks the candidate after its client was closed and all callbacks have run. */
    void checkClosed() {
        Leadership last = term;
        if (last != null) {
            run.world.fail(Rule.CAMPAIGNS_END, name + "'s client is closed, but not its term " + last.term());
        }
    }
}
