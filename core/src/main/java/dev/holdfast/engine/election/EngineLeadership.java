package dev.holdfast.engine.election;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import dev.holdfast.engine.execution.Trampoline;
import dev.holdfast.engine.execution.UserStage;
import dev.holdfast.spi.support.LossInterrupt;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What users see of one term; the {@link EngineCampaign} decides when it ends. Thread-safe. */
final class EngineLeadership implements Leadership {
    private static final Logger log = LoggerFactory.getLogger(EngineLeadership.class);

    final Hold hold;
    final long beganAt;
    private final EngineCampaign campaign;
    private final long term;

    private final CompletableFuture<TermEnd> ended = new CompletableFuture<>();
    private final UserStage<TermEnd> userStage = new UserStage<>();

    /** Interrupts the candidate while it is in {@code onElected}; null before and after. Written by that thread. */
    volatile @Nullable LossInterrupt interrupt;

    EngineLeadership(EngineCampaign campaign, Hold hold, long beganAt) {
        this.campaign = campaign;
        this.hold = hold;
        this.term = hold.fencingToken();
        this.beganAt = beganAt;
    }

    /** The term has ended. Called once, before the candidate is interrupted. */
    void notifyEnd(TermEnd how) {
        // A candidate in awaitEnd() then returns from it normally, instead of being interrupted there.
        ended.complete(how);
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
        TermEnd end = ended.getNow(null);
        if (end == null) {
            hold.ensureHeld();
        } else if (end.loss().isPresent()) {
            throw new LockLostException(end.loss().get());
        } else {
            throw new IllegalStateException("Term " + term + " of '" + name() + "' ended: " + end.reason());
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
        var unused = ended.thenAccept(how -> campaign.context.callbacks().runListener(() -> guarded.accept(how)));
        return this;
    }

    @Override
    public CompletionStage<TermEnd> ended() {
        return userStage.of(ended, campaign.context.callbacks()).minimalCompletionStage();
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
            throw new IllegalStateException("the end of a term must not fail", e);
        }
        LossInterrupt pending = interrupt;
        if (pending != null && pending.isOfCaller()) {
            // The candidate knows of the end now: the interrupt must not disturb how it finishes.
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
