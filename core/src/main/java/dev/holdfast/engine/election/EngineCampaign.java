package dev.holdfast.engine.election;

import dev.holdfast.Campaign;
import dev.holdfast.CampaignOptions;
import dev.holdfast.Candidate;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.Leadership;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.TermEnd;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.local.AcquireTerms;
import dev.holdfast.engine.local.Acquirer;
import dev.holdfast.engine.local.HoldHandle;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.local.LossInterrupt;
import dev.holdfast.engine.time.Jitter;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ResourceName;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
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

/** A campaign. Thread-safe; its lock is a leaf, never held while anything is called. */
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

    private final ReentrantLock lock = new ReentrantLock();

    // All guarded by lock.
    private State state = State.WAITING;
    private @Nullable EngineLeadership term;
    private @Nullable CompletableFuture<Hold> request;
    private Environment.Timer pause = () -> {};
    private @Nullable Throwable lastError;
    private boolean isLeaving;

    /** A pause begins when the candidate has been told why. */
    private boolean isTelling;

    /** A term that the candidate is done with, and whose release the store has not answered. */
    private @Nullable EngineLeadership releasing;

    /** How often in a row something has failed; what the pause grows with. */
    private int troubles;

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
        lock.lock();
        try {
            if (isLeaving) {
                return;
            }
            state = State.WAITING;
        } finally {
            lock.unlock();
        }
        elections.stand(this);
    }

    /** It is this campaign's turn to ask. Called by {@link Elections}, without any lock. */
    void ask() {
        if (isLeaving()) {
            // It was closed while it came here.
            elections.standDown(this);
            return;
        }
        CompletableFuture<Hold> asked = seat.enterForEngine(AcquireTerms.FOREVER);
        boolean isLate;
        lock.lock();
        try {
            request = asked;
            isLate = isLeaving;
        } finally {
            lock.unlock();
        }
        var unused = asked.whenComplete(this::answered);
        if (isLate) {
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
        boolean isUnwanted;
        lock.lock();
        try {
            request = null;
            isUnwanted = isLeaving;
            if (!isUnwanted) {
                term = fresh;
                state = State.LEADING;
            }
        } finally {
            lock.unlock();
        }
        if (isUnwanted) {
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
        boolean isFirst;
        lock.lock();
        try {
            request = null;
            if (isLeaving) {
                return;
            }
            isFirst = troubles == 0;
            isTelling = true;
            state = State.PAUSED;
            lastError = failure;
        } finally {
            lock.unlock();
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

    private boolean isLeaving() {
        lock.lock();
        try {
            return isLeaving;
        } finally {
            lock.unlock();
        }
    }

    // ---- Leading

    private void runElected(EngineLeadership of) {
        LossInterrupt interrupt = new LossInterrupt(Thread.currentThread());
        lock.lock();
        try {
            of.wasTold = of.end == null;
            of.interrupt = interrupt;
        } finally {
            lock.unlock();
        }
        Throwable failure = of.wasTold ? thread.call(() -> candidate.onElected(of)) : null;
        interrupt.disarm();
        if (failure != null && taskFailed(of, failure)) {
            note(failure);
            log.warn("resource={} term={} the candidate failed while it led", name, of.term(), failure);
            tellError(failure);
        }
        boolean isOver;
        lock.lock();
        try {
            of.interrupt = null;
            of.isTaskOver = true;
            isOver = of.end != null;
        } finally {
            lock.unlock();
        }
        if (isOver) {
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
        LossInterrupt interrupt;
        boolean isTaskOver;
        lock.lock();
        try {
            if (of.end != null) {
                return false;
            }
            of.end = how;
            state = State.STEPPING_DOWN;
            term = null;
            interrupt = of.interrupt;
            isTaskOver = of.isTaskOver;
        } finally {
            lock.unlock();
        }
        log.info("resource={} store={} term={} is over: {}", name, context.product(), of.term(), how.reason());
        of.tell(how);
        if (interrupt != null) {
            interrupt.fire();
        }
        if (how.reason() == TermEnd.Reason.LOST) {
            // Another may lead by now, so it may as well be another of this client.
            elections.standDown(this);
        }
        if (isTaskOver) {
            thread.execute(() -> conclude(of));
        }
        return true;
    }

    /** The term is over and {@code onElected} has returned. Called once, on the candidate's executor. */
    private void conclude(EngineLeadership of) {
        TermEnd how = endOf(of);
        if (of.wasTold) {
            Throwable failure = thread.call(() -> candidate.onTermEnd(of, how));
            if (failure != null) {
                note(failure);
                log.warn("resource={} term={} the candidate failed when its term was over", name, of.term(), failure);
                tellError(failure);
            }
        }
        lock.lock();
        try {
            releasing = of;
        } finally {
            lock.unlock();
        }
        var unused =
                HoldHandle.of(of.hold).giveBack(CallerMode.ASYNC).whenComplete((outcome, failure) -> steppedDown(of));
        if (context.isClosing()) {
            steppedDown(of);
        }
    }

    private void note(Throwable failure) {
        lock.lock();
        try {
            lastError = failure;
        } finally {
            lock.unlock();
        }
    }

    private TermEnd endOf(EngineLeadership of) {
        lock.lock();
        try {
            TermEnd how = of.end;
            if (how == null) {
                throw new IllegalStateException("term " + of.term() + " goes on");
            }
            return how;
        } finally {
            lock.unlock();
        }
    }

    /** The store has answered, or never will. */
    private void steppedDown(EngineLeadership of) {
        long lasted = context.clock().now() - of.beganAt;
        TermEnd.Reason why = endOf(of).reason();
        lock.lock();
        try {
            if (releasing != of) {
                return;
            }
            releasing = null;
            if (lasted >= options.longestPause().toNanos()) {
                troubles = 0;
            }
        } finally {
            lock.unlock();
        }
        elections.standDown(this);
        elections.news(name);
        standAgain(
                why == TermEnd.Reason.LOST || why == TermEnd.Reason.FAILED,
                lasted < options.shortestPause().toNanos());
    }

    /** Stands again: after trouble in a while, after a term that was given up at once; or leaves. */
    private void standAgain(boolean isTrouble, boolean wasBrief) {
        boolean isEnd;
        boolean isNow = !isTrouble && !wasBrief;
        lock.lock();
        try {
            isEnd = isLeaving;
            isTelling = false;
            if (!isEnd) {
                state = State.PAUSED;
                if (!isNow) {
                    pause = context.environment().schedule(pauseNanos(isTrouble), this::stand);
                }
            }
        } finally {
            lock.unlock();
        }
        if (isEnd) {
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
            int doublings = Math.min(troubles++, Long.numberOfLeadingZeros(nanos) - 1);
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
        EngineLeadership present;
        EngineLeadership unanswered;
        lock.lock();
        try {
            if (!isLeaving) {
                lastError = why;
            }
            present = term;
            unanswered = releasing;
        } finally {
            lock.unlock();
        }
        leave(TermEnd.lost(new Loss(
                name.value(), context.product(), present == null ? 0 : present.term(), Loss.Cause.CLIENT_CLOSED)));
        if (unanswered != null) {
            steppedDown(unanswered);
        }
    }

    private void leave(TermEnd how) {
        boolean isIdle;
        EngineLeadership present;
        CompletableFuture<Hold> asked;
        lock.lock();
        try {
            if (isLeaving) {
                return;
            }
            isLeaving = true;
            isIdle = state == State.WAITING || (state == State.PAUSED && !isTelling);
            present = term;
            asked = request;
            pause.cancel();
        } finally {
            lock.unlock();
        }
        if (present != null) {
            end(present, how);
            return;
        }
        if (asked != null) {
            asked.cancel(true);
        }
        if (isIdle) {
            elections.standDown(this);
            finish();
        }
    }

    private void finish() {
        Throwable why;
        lock.lock();
        try {
            if (state == State.ENDED) {
                return;
            }
            state = State.ENDED;
            why = lastError;
        } finally {
            lock.unlock();
        }
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
        lock.lock();
        try {
            return state;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<Leadership> leadership() {
        lock.lock();
        try {
            return Optional.ofNullable(term);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<Throwable> lastError() {
        lock.lock();
        try {
            return Optional.ofNullable(lastError);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean resign() {
        EngineLeadership present;
        lock.lock();
        try {
            present = term;
        } finally {
            lock.unlock();
        }
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
