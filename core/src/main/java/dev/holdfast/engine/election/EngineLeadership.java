package dev.holdfast.engine.election;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import dev.holdfast.engine.execution.Trampoline;
import dev.holdfast.spi.support.LossInterrupt;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One term. Its course is the campaign's business; here is what users see of it. Thread-safe. */
final class EngineLeadership implements Leadership {
    private static final Logger log = LoggerFactory.getLogger(EngineLeadership.class);

    final Hold hold;
    final long beganAt;
    private final EngineCampaign campaign;
    private final long term;

    /** For who waits in {@link #awaitEnd()}: completed at once. */
    private final CompletableFuture<TermEnd> ended = new CompletableFuture<>();

    /** For users: completed on the callback executor. */
    private final CompletableFuture<TermEnd> told = new CompletableFuture<>();

    /** Interrupts the candidate while it is in {@code onElected}; null before and after. Written by that thread. */
    volatile @Nullable LossInterrupt interrupt;

    // Guarded by the lock of the campaign's state.
    @Nullable
    TermEnd end;

    /** {@code onElected} was called, and returned or has thrown; or it will not be called. */
    boolean isTaskOver;

    /** {@code onElected} was called. */
    boolean wasTold;

    EngineLeadership(EngineCampaign campaign, Hold hold, long beganAt) {
        this.campaign = campaign;
        this.hold = hold;
        this.term = hold.fencingToken();
        this.beganAt = beganAt;
    }

    /** The term is over: whoever waits for that goes on. Called once, without any lock. */
    void tell(TermEnd how) {
        // Before the interrupt: a candidate that waits for the end returns from that, and is not torn out of it.
        ended.complete(how);
        campaign.context.callbacks().run(() -> told.complete(how));
    }

    @Override
    public String name() {
        return hold.name();
    }

    @Override
    public long term() {
        return term;
    }

    @Override
    public String holdId() {
        return hold.holdId();
    }

    @Override
    public boolean isLeader() {
        return !ended.isDone() && hold.isHeld();
    }

    @Override
    public void ensureLeader() {
        TermEnd over = ended.getNow(null);
        if (over == null) {
            hold.ensureHeld();
        } else if (over.loss().isPresent()) {
            throw new LockLostException(over.loss().get());
        } else {
            throw new IllegalStateException("Term " + term + " of '" + name() + "' was given up: " + over.reason());
        }
    }

    @Override
    public Duration remaining() {
        return ended.isDone() ? Duration.ZERO : hold.remaining();
    }

    @Override
    public Leadership onLost(Consumer<? super Loss> listener) {
        return onEnd(end -> end.loss().ifPresent(listener));
    }

    @Override
    public Leadership onEnd(Consumer<? super TermEnd> listener) {
        Consumer<TermEnd> guarded = how -> {
            try {
                listener.accept(how);
            } catch (RuntimeException | Error e) {
                log.warn("resource={} term={} a listener for the end of the term failed", name(), term, e);
            }
        };
        var unused = ended.thenAccept(how -> campaign.context.callbacks().runLossListener(() -> guarded.accept(how)));
        return this;
    }

    @Override
    public CompletionStage<TermEnd> ended() {
        return told.minimalCompletionStage();
    }

    @Override
    public TermEnd awaitEnd() throws InterruptedException {
        try {
            Trampoline.flush();
            ended.get();
        } catch (InterruptedException e) {
            if (!ended.isDone()) {
                throw e;
            }
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new IllegalStateException("the end of a term never fails", e);
        }
        LossInterrupt pending = interrupt;
        if (pending != null && pending.isOfCaller()) {
            // The candidate knows now; what it does to finish is not to be torn by that interrupt.
            pending.end();
        }
        return ended.join();
    }

    @Override
    public boolean resign() {
        return campaign.end(this, TermEnd.givenUp(TermEnd.Reason.RESIGNED));
    }

    @Override
    public boolean resignAndLeave() {
        boolean hasEnded = resign();
        if (hasEnded) {
            campaign.closeAsync();
        }
        return hasEnded;
    }

    @Override
    public String toString() {
        return "Leadership[" + name() + ", term " + term + "]";
    }
}
