package dev.holdfast.engine;

import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Turns the store's answer to a release into what its owner is told.
 *
 * @param inDoubt whether the hold was in doubt when it was released: then only the store's word makes it good
 * @param since when it was released
 */
record HoldEnd(LocalHold hold, boolean inDoubt, long since, CompletableFuture<ReleaseOutcome> stage)
        implements Settler.Done {

    @Override
    public void settled(@Nullable Reply reply, boolean isFirst) {
        if (reply instanceof Reply.Absent && isFirst) {
            // Nobody but us could have released it, and we had not yet: it was taken away.
            hold.gate.engine.foundRemoved(hold, Loss.Cause.REMOVED);
            stage.complete(ReleaseOutcome.LOST);
        } else if (inDoubt && !(reply instanceof Reply.Released)) {
            stage.complete(ReleaseOutcome.LOST);
        } else {
            stage.complete(ReleaseOutcome.RELEASED);
        }
    }

    @Override
    public void delayed(StoreException failure) {
        Engine engine = hold.gate.engine;
        if (failure.reason() != StoreException.Reason.UNAVAILABLE
                || engine.clock.now() - since >= engine.options.storeTimeout().toNanos()) {
            stage.complete(inDoubt ? ReleaseOutcome.LOST : ReleaseOutcome.UNCONFIRMED);
        }
    }
}
