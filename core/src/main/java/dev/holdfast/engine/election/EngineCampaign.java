package dev.holdfast.engine.election;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.Candidate;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.election.CampaignState.Step;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.execution.UserStage;
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
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A campaign: replaces its {@link CampaignState} by the next one, and does what that asks for. Calls of the candidate
 * need no queue: each is made when the one before has returned, and nothing else happens meanwhile. Thread-safe.
 */
final class EngineCampaign implements Campaign {
    private static final Logger log = LoggerFactory.getLogger(EngineCampaign.class);

    final ClientContext context;
    final ResourceName name;
    private final Elections elections;
    private final CampaignOptions options;
    private final Candidate candidate;
    private final CandidateThread thread;
    private final Acquirer seat;
    private final ReentrantLock lock = new ReentrantLock();

    /** Replaced under the lock, read by any thread. */
    private volatile CampaignState state = CampaignState.INITIAL;

    // Cancelled when the campaign is closed. Whoever writes one of them checks afterwards whether it was.
    private volatile CompletableFuture<Hold> request = new CompletableFuture<>();
    private volatile Environment.Timer pause = () -> {};

    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final UserStage<Void> userStage = new UserStage<>();

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
        elections.stand(this);
    }

    /** Makes a transition; returns the state after it, or null if it did not apply. */
    private @Nullable CampaignState advance(UnaryOperator<CampaignState> transition) {
        lock.lock();
        try {
            CampaignState before = state;
            CampaignState after = transition.apply(before);
            state = after;
            return after.equals(before) ? null : after;
        } finally {
            lock.unlock();
        }
    }

    // ---- Waiting

    /** It is this campaign's turn to ask for the seat. Called by {@link Elections}, without any lock. */
    void ask() {
        if (state.isClosed()) {
            elections.standDown(this);
            return;
        }
        CompletableFuture<Hold> asked = seat.enterForEngine(AcquireTerms.FOREVER);
        request = asked;
        var unused = asked.whenComplete(this::answered);
        if (state.isClosed()) {
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
        EngineLeadership term;
        try {
            term = new EngineLeadership(this, hold, context.clock().now());
        } catch (LockLostException e) {
            release(hold);
            failed(e);
            return;
        }
        if (advance(current -> current.elected(term)) == null) {
            release(hold);
            return;
        }
        log.info("resource={} store={} term={} elected", name, context.product(), term.term());
        HoldHandle.of(hold).whenLost(loss -> end(term, TermEnd.lost(loss)));
        elections.pollNow(name);
        thread.execute(() -> runElected(term));
    }

    /** The seat could not be waited for, or was lost before the term began. */
    private void failed(Throwable failure) {
        CampaignState after = advance(current -> current.failed(failure));
        if (after == null) {
            return;
        }
        if (after.failures() == 1) {
            log.warn(
                    "resource={} store={} the campaign failed; it retries until it is closed",
                    name,
                    context.product(),
                    failure);
        }
        elections.standDown(this);
        thread.execute(() -> {
            reportError(failure);
            proceed(advance(CampaignState::reported), after.failures());
        });
    }

    /** Waits again, at once or after a pause; or ends. Does nothing after a transition that did not apply. */
    private void proceed(@Nullable CampaignState after, int failures) {
        if (after == null) {
            return;
        }
        switch (after.phase()) {
            case WAITING -> elections.stand(this);
            case PAUSED -> {
                Environment.Timer timer = context.environment().schedule(pauseNanos(failures), this::resume);
                pause = timer;
                if (state.isClosed()) {
                    timer.cancel();
                }
            }
            default -> finish();
        }
    }

    private void resume() {
        if (advance(CampaignState::resumed) != null) {
            elections.stand(this);
        }
    }

    /** Doubles from failure to failure. */
    private long pauseNanos(int failures) {
        long shortest = options.shortestPause().toNanos();
        int doublings = Math.min(failures - 1, Long.numberOfLeadingZeros(shortest) - 1);
        long longest = options.longestPause().toNanos();
        return Jitter.spread(context.environment(), Math.min(longest, shortest << doublings));
    }

    // ---- Leading

    private void runElected(EngineLeadership term) {
        LossInterrupt interrupt = LossInterrupt.begin();
        term.interrupt = interrupt;
        boolean isCalled = advance(CampaignState::calling) != null;
        Throwable failure = isCalled ? thread.call(() -> candidate.onElected(term)) : null;
        interrupt.end();
        if (failure != null && isReportable(term, failure)) {
            reportError(term, "while it was the leader", failure);
        }
        term.interrupt = null;
        CampaignState after = advance(CampaignState::returned);
        if (after != null && after.end() != null) {
            if (isCalled) {
                stepDown(term, after.end());
            } else {
                release(term, after.end());
            }
        }
    }

    /** Whether what a candidate threw is a failure of its own, and not how it noticed the end of its term; ends it. */
    private boolean isReportable(EngineLeadership term, Throwable failure) {
        boolean isOfLoss =
                failure instanceof LockLostException lost && lost.loss().token() == term.term();
        return end(term, TermEnd.failed(failure)) || !(failure instanceof InterruptedException || isOfLoss);
    }

    /**
     * Ends a term, unless it has ended.
     *
     * @return whether this call ended it
     */
    boolean end(EngineLeadership term, TermEnd how) {
        CampaignState after = advance(current -> current.ended(term, how));
        if (after == null) {
            return false;
        }
        log.info("resource={} store={} term={} ended: {}", name, context.product(), term.term(), how.reason());
        term.notifyEnd(how);
        LossInterrupt interrupt = term.interrupt;
        if (after.step() == Step.LEADING && interrupt != null) {
            interrupt.fire();
        }
        if (how.reason() == TermEnd.Reason.LOST) {
            // Another process may lead by now, so another campaign of this client may as well.
            elections.standDown(this);
        }
        if (after.step() == Step.NONE) {
            thread.execute(() -> stepDown(term, how));
        }
        return true;
    }

    /**
     * Called once for each term, on the candidate's executor, when the term has ended and {@code onElected} returned.
     */
    private void stepDown(EngineLeadership term, TermEnd how) {
        Throwable failure = thread.call(() -> candidate.onTermEnd(term, how));
        if (failure != null) {
            reportError(term, "when its term ended", failure);
        }
        release(term, how);
    }

    /** Releases the seat of a term that has ended. */
    private void release(EngineLeadership term, TermEnd how) {
        var unusedState = advance(CampaignState::releasing);
        var unused = release(term.hold).whenComplete((outcome, none) -> released(term, how));
        if (context.isClosing()) {
            released(term, how);
        }
    }

    @CanIgnoreReturnValue
    private static CompletableFuture<ReleaseOutcome> release(Hold hold) {
        return HoldHandle.of(hold).giveBack(CallerMode.ASYNC);
    }

    /** The store has answered the release, or never will. */
    private void released(EngineLeadership term, TermEnd how) {
        long lasted = context.clock().now() - term.beganAt;
        boolean isFailure = how.reason() == TermEnd.Reason.LOST || how.reason() == TermEnd.Reason.FAILED;
        // A term that is resigned at once, again and again, must not keep the store busy.
        boolean isPaused = isFailure || lasted < options.shortestPause().toNanos();
        int before = lasted < options.longestPause().toNanos() ? state.failures() : 0;
        int failures = isFailure ? before + 1 : before;
        CampaignState after =
                advance(current -> current.released(term, isPaused ? State.PAUSED : State.WAITING, failures));
        if (after != null) {
            elections.standDown(this);
            elections.pollNow(name);
            proceed(after, isFailure ? failures : 1);
        }
    }

    private void reportError(EngineLeadership term, String moment, Throwable failure) {
        var unused = advance(current -> current.noting(failure));
        log.warn("resource={} term={} the candidate failed {}", name, term.term(), moment, failure);
        reportError(failure);
    }

    private void reportError(Throwable failure) {
        Throwable another = thread.call(() -> candidate.onError(failure));
        if (another != null) {
            log.warn("resource={} the candidate failed when it was notified of an error", name, another);
        }
    }

    // ---- Closing

    @Override
    public CompletionStage<Void> closeAsync() {
        close(null);
        return ended();
    }

    /** The client is closed: the store will not answer a release any more. */
    void shut() {
        close(context.failures().closed());
        CampaignState current = state;
        if (current.step() == Step.RELEASING && current.term() != null && current.end() != null) {
            released(current.term(), current.end());
        }
    }

    private void close(@Nullable RuntimeException clientClosed) {
        CampaignState after = advance(current -> current.closed(clientClosed));
        if (after == null) {
            return;
        }
        request.cancel(true);
        pause.cancel();
        EngineLeadership term = after.presentTerm();
        if (term != null) {
            Loss loss = new Loss(name.value(), context.product(), term.term(), Loss.Cause.CLIENT_CLOSED);
            end(term, clientClosed == null ? TermEnd.givenUp(TermEnd.Reason.CLOSED) : TermEnd.lost(loss));
        } else if (after.phase() == State.ENDED) {
            elections.standDown(this);
            finish();
        }
    }

    /** Called once. */
    private void finish() {
        elections.remove(this);
        if (state.lastError() instanceof ClientClosedException closed) {
            thread.execute(() -> {
                reportError(closed);
                ended.complete(null);
            });
        } else {
            ended.complete(null);
        }
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
                    "resource={} store={} the campaign was closed, but its candidate is still "
                            + "running; the store keeps the leadership until it ends",
                    name,
                    context.product());
        } catch (ExecutionException e) {
            throw new IllegalStateException("the end of a campaign must not fail", e);
        }
    }

    // ---- State

    @Override
    public String name() {
        return name.value();
    }

    @Override
    public State state() {
        return state.phase();
    }

    @Override
    public Optional<Leadership> leadership() {
        return Optional.ofNullable(state.presentTerm());
    }

    @Override
    public Optional<Throwable> lastError() {
        return Optional.ofNullable(state.lastError());
    }

    @Override
    public boolean resign() {
        EngineLeadership term = state.presentTerm();
        return term != null && term.resign();
    }

    @Override
    public CompletionStage<Void> ended() {
        return userStage.of(ended, context.callbacks()).minimalCompletionStage();
    }

    @Override
    public String toString() {
        return "Campaign[" + name + ", " + context.product() + ", " + state() + "]";
    }
}
