package dev.holdfast.engine.local;

import dev.holdfast.Environment;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.session.ReleaseRetrier;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Turns the store's answer to a release into its outcome, at the latest at the store time-out. Used by one thread after
 * another.
 */
final class ReleaseResult implements ReleaseRetrier.Done {

    private final LocalHold hold;
    private final boolean inDoubt;
    private final long since;
    private final CompletableFuture<ReleaseOutcome> stage;

    /**
     * Set by the first failure. Before that an answer is in flight, which arrives or fails well within the time-out.
     */
    private Environment.@Nullable Timer alarm;

    /**
     * Begins with the release.
     *
     * @param inDoubt whether the hold was in doubt when it was released: then only the store's answer confirms it
     * @param since when it was released
     */
    ReleaseResult(LocalHold hold, boolean inDoubt, long since, CompletableFuture<ReleaseOutcome> stage) {
        this.hold = hold;
        this.inDoubt = inDoubt;
        this.since = since;
        this.stage = stage;
    }

    @Override
    public void settled(@Nullable Reply reply, Sending sending) {
        if (alarm != null) {
            alarm.cancel();
        }
        if (reply instanceof Reply.Absent && sending == Sending.FIRST) {
            // Only this client releases it, and had not done so before: it was removed.
            hold.noteRemoval();
            stage.complete(ReleaseOutcome.LOST);
        } else if (inDoubt && !(reply instanceof Reply.Released)) {
            stage.complete(ReleaseOutcome.LOST);
        } else {
            stage.complete(ReleaseOutcome.RELEASED);
        }
    }

    @Override
    public void delayed(StoreException failure) {
        ClientContext context = hold.resource().context();
        long left = since
                + context.options().storeTimeout().toNanos()
                - context.clock().now();
        hold.notReleased = failure;
        if (failure.reason() != StoreException.Reason.UNAVAILABLE || left <= 0) {
            giveUp();
        } else if (alarm == null) {
            alarm = context.environment().schedule(left, this::giveUp);
        }
    }

    private void giveUp() {
        stage.complete(inDoubt ? ReleaseOutcome.LOST : ReleaseOutcome.UNCONFIRMED);
    }
}
