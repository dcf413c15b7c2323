package dev.holdfast.engine.election;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.Candidate;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.local.AcquireTerms;
import dev.holdfast.engine.local.Acquirer;
import dev.holdfast.engine.local.HoldHandle;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.time.Jitter;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.LossInterrupt;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * A state machine that nothing but a close ends. It stands (WAITING), is granted a hold (LEADING), and the term goes on
 * until the first of: the hold is lost, it is resigned, the candidate throws, the campaign or the client is closed
 * (STEPPING_DOWN). Then the candidate finishes: onElected returns, onTermEnd is called, and only then a hold that is
 * still good is given back, so that leaders who give up and their successors never overlap. After that it stands again,
 * at once or after a pause (PAUSED).
 *
 * The calls to the candidate need no queue of their own: each is made by the state machine when the one before has
 * returned, and nothing goes on meanwhile.
 */

/** A campaign: does what its {@link CampaignState} asks for. Thread-safe. */
final class EngineCampaign implements Campaign {
    private static final Logger log = LoggerFactory.getLogger(EngineCampaign.class);

    final ClientContext context;
    private final Elections elections;
    final ResourceName name;
    private final CampaignOptions options;
    private final Candidate candidate;
    private final CandidateThread thread;
    private final Acquirer seat;

    /** For who waits in {@link #close()}: completed at once. */
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    /** For users: completed on the callback executor. */
    private final CompletableFuture<Void> told = new CompletableFuture<>();

    private final CampaignState state = new CampaignState();

    EngineCampaign(
            LocalResources resources,
            Elections elections,
            ResourceName name,
            CampaignOptions options,
            Candidate candidate) {
        this.context = resources.context;
        this.elections = elections;
        this.name = name;
        this.options = options;
        this.candidate = candidate;
        this.thread = new CandidateThread(context, name, options);
        this.seat = new Acquirer(resources, name, EngineElection.SEAT);
    }

    void start() {
        stand();
    }

    // ---- Waiting

    private void stand() {
        if (state.stand()) {
            elections.stand(this);
        }
    }

    /** It is this campaign's turn to ask. Called by {@link Elections}, without any lock. */
    void ask() {
        if (state.isLeaving()) {
            // It was closed while it came here.
            elections.standDown(this);
            return;
        }
        CompletableFuture<Hold> asked = seat.enterForEngine(AcquireTerms.FOREVER);
        boolean isWanted = state.ask(asked);
        var unused = asked.whenComplete(this::answered);
        if (!isWanted) {
            asked.cancel(true);
        }
    }

    private void answered(@Nullable Hold hold, @Nullable Throwable failure) {
        if (hold != null) {
            elected(hold);
        } else if (failure != null && !(failure instanceof ClientClosedException)) {
            failed(failure);
        }
        // A client that is closed ends its campaigns itself.
    }

    private void elected(Hold hold) {
        EngineLeadership fresh;
        try {
            fresh = new EngineLeadership(this, hold, context.clock().now());
        } catch (LockLostException e) {
            var unused = HoldHandle.of(hold).giveBack(CallerMode.ASYNC);
            failed(e);
            return;
        }
        if (!state.begin(fresh)) {
            var unused = HoldHandle.of(hold).giveBack(CallerMode.ASYNC);
            return;
        }
        log.info("resource={} store={} term={} elected", name, context.product(), fresh.term());
        HoldHandle.of(hold).whenLost(loss -> end(fresh, TermEnd.lost(loss)));
        elections.news(name);
        thread.execute(() -> runElected(fresh));
    }

    /** It could not be asked for, or was lost before it began. */
    private void failed(Throwable failure) {
        boolean isFirst = !state.isInTrouble();
        if (!state.fail(failure)) {
            return;
        }
        if (isFirst) {
            log.warn(
                    "resource={} store={} the campaign has trouble; it tries again until it is closed",
                    name,
                    context.product(),
                    failure);
        }
        elections.standDown(this);
        thread.execute(() -> {
            tellError(failure);
            standAgain(true, false);
        });
    }

    // ---- Leading

    private void runElected(EngineLeadership of) {
        LossInterrupt interrupt = LossInterrupt.begin();
        Throwable failure = state.beginTask(of, interrupt) ? thread.call(() -> candidate.onElected(of)) : null;
        interrupt.end();
        if (failure != null && taskFailed(of, failure)) {
            state.note(failure);
            log.warn("resource={} term={} the candidate failed while it led", name, of.term(), failure);
            tellError(failure);
        }
        if (state.endTask(of)) {
            conclude(of);
        }
    }

    /** Whether what a candidate threw is an error of its own; ends the term if it goes on. */
    private boolean taskFailed(EngineLeadership of, Throwable failure) {
        return end(of, TermEnd.failed(failure)) || !(failure instanceof InterruptedException || isLossOf(of, failure));
    }

    private static boolean isLossOf(EngineLeadership of, Throwable failure) {
        return failure instanceof LockLostException lost && lost.loss().token() == of.term();
    }

    /**
     * Ends a term, unless it is over.
     *
     * @return whether it was this that ended it
     */
    boolean end(EngineLeadership of, TermEnd how) {
        CampaignState.Ended ended = state.end(of, how);
        if (ended == null) {
            return false;
        }
        log.info("resource={} store={} term={} is over: {}", name, context.product(), of.term(), how.reason());
        of.tell(how);
        if (ended.interrupt() != null) {
            ended.interrupt().fire();
        }
        if (how.reason() == TermEnd.Reason.LOST) {
            // Another may lead by now, so it may as well be another of this client.
            elections.standDown(this);
        }
        if (ended.isTaskOver()) {
            thread.execute(() -> conclude(of));
        }
        return true;
    }

    /** The term is over and {@code onElected} has returned. Called once, on the candidate's executor. */
    private void conclude(EngineLeadership of) {
        TermEnd how = state.endOf(of);
        if (of.wasTold) {
            Throwable failure = thread.call(() -> candidate.onTermEnd(of, how));
            if (failure != null) {
                state.note(failure);
                log.warn("resource={} term={} the candidate failed when its term was over", name, of.term(), failure);
                tellError(failure);
            }
        }
        state.beginRelease(of);
        var unused =
                HoldHandle.of(of.hold).giveBack(CallerMode.ASYNC).whenComplete((outcome, failure) -> steppedDown(of));
        if (context.isClosing()) {
            steppedDown(of);
        }
    }

    /** The store has answered, or never will. */
    private void steppedDown(EngineLeadership of) {
        long lasted = context.clock().now() - of.beganAt;
        TermEnd.Reason why = state.endOf(of).reason();
        if (!state.endRelease(of, lasted >= options.longestPause().toNanos())) {
            return;
        }
        elections.standDown(this);
        elections.news(name);
        standAgain(
                why == TermEnd.Reason.LOST || why == TermEnd.Reason.FAILED,
                lasted < options.shortestPause().toNanos());
    }

    /** Stands again: after trouble in a while, after a term that was given up at once; or leaves. */
    private void standAgain(boolean isTrouble, boolean wasBrief) {
        boolean isNow = !isTrouble && !wasBrief;
        @Nullable
        Supplier<Environment.Timer> pause =
                isNow ? null : () -> context.environment().schedule(pauseNanos(isTrouble), this::stand);
        if (!state.standAgain(pause)) {
            finish();
        } else if (isNow) {
            stand();
        }
    }

    /**
     * Grows from trouble to trouble; short for who resigns at once, again and again, and would else keep the store
     * busy.
     */
    private long pauseNanos(boolean isTrouble) {
        long nanos = options.shortestPause().toNanos();
        if (isTrouble) {
            long longest = options.longestPause().toNanos();
            int doublings = Math.min(state.countTrouble(), Long.numberOfLeadingZeros(nanos) - 1);
            nanos = Math.min(longest, nanos << doublings);
        }
        return Jitter.spread(context.environment(), nanos);
    }

    // ---- Leaving

    @Override
    public CompletionStage<Void> closeAsync() {
        leave(TermEnd.givenUp(TermEnd.Reason.CLOSED));
        return ended();
    }

    /** The client is closed. */
    void shut() {
        RuntimeException why = context.failures().closed();
        state.noteShut(why);
        EngineLeadership present = state.term();
        EngineLeadership unanswered = state.releasing();
        leave(TermEnd.lost(new Loss(
                name.value(), context.product(), present == null ? 0 : present.term(), Loss.Cause.CLIENT_CLOSED)));
        if (unanswered != null) {
            steppedDown(unanswered);
        }
    }

    private void leave(TermEnd how) {
        CampaignState.Left left = state.leave();
        if (left == null) {
            return;
        }
        if (left.term() != null) {
            end(left.term(), how);
            return;
        }
        if (left.asked() != null) {
            left.asked().cancel(true);
        }
        if (left.isIdle()) {
            elections.standDown(this);
            finish();
        }
    }

    private void finish() {
        if (!state.finish()) {
            return;
        }
        Throwable why = state.lastError();
        elections.remove(this);
        if (why instanceof ClientClosedException) {
            thread.execute(() -> {
                tellError(why);
                tellEnd();
            });
        } else {
            tellEnd();
        }
    }

    private void tellEnd() {
        ended.complete(null);
        context.callbacks().run(() -> told.complete(null));
    }

    @Override
    public void close() {
        closeAsync();
        if (thread.isCurrent()) {
            return;
        }
        try {
            Uninterruptibles.uninterruptibly(
                    ended, context.options().storeTimeout().toNanos());
        } catch (TimeoutException e) {
            log.warn(
                    "resource={} store={} the campaign was closed, but its candidate has not ended yet; it keeps the"
                            + " leadership at the store until then",
                    name,
                    context.product());
        } catch (ExecutionException e) {
            throw new IllegalStateException("the end of a campaign never fails", e);
        }
    }

    // ---- The candidate

    private void tellError(Throwable failure) {
        Throwable another = thread.call(() -> candidate.onError(failure));
        if (another != null) {
            log.warn("resource={} the candidate failed when it was told of an error", name, another);
        }
    }

    // ---- Looks from outside

    @Override
    public String name() {
        return name.value();
    }

    @Override
    public State state() {
        return state.state();
    }

    @Override
    public Optional<Leadership> leadership() {
        return Optional.ofNullable(state.term());
    }

    @Override
    public Optional<Throwable> lastError() {
        return Optional.ofNullable(state.lastError());
    }

    @Override
    public boolean resign() {
        EngineLeadership present = state.term();
        return present != null && present.resign();
    }

    @Override
    public CompletionStage<Void> ended() {
        return told.minimalCompletionStage();
    }

    @Override
    public String toString() {
        return "Campaign[" + name + ", " + context.product() + ", " + state() + "]";
    }
}
