package dev.holdfast.engine.observe;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import java.util.List;
import java.util.function.Consumer;

/** Several listeners of one acquisition: what one throws does not affect the others. */
record SeveralListeners(List<AcquisitionListener> all) implements AcquisitionListener {

    @Override
    public void onGranted(long token, GrantSource source) {
        each(one -> one.onGranted(token, source));
    }

    @Override
    public void onNotGranted(WaitEnd end) {
        each(one -> one.onNotGranted(end));
    }

    @Override
    public void onLost(Loss loss) {
        each(one -> one.onLost(loss));
    }

    @Override
    public void onReleasing() {
        each(AcquisitionListener::onReleasing);
    }

    @Override
    public void onReleased(ReleaseOutcome outcome) {
        each(one -> one.onReleased(outcome));
    }

    private void each(Consumer<AcquisitionListener> event) {
        for (AcquisitionListener one : all) {
            try {
                event.accept(one);
            } catch (RuntimeException | Error e) {
                AcquisitionObserver.log(e);
            }
        }
    }
}
