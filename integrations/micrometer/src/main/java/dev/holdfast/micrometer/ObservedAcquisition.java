package dev.holdfast.micrometer;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

/** Observes one acquisition: its wait, and then its hold. Used by one thread after another. */
final class ObservedAcquisition implements AcquisitionListener {

    private final HoldfastObservations observations;
    private final LockObservationContext waitContext;
    private final LockObservationContext holdContext;
    private final Observation wait;
    private @Nullable Observation hold;

    ObservedAcquisition(HoldfastObservations observations, LockObservationContext waitContext, Observation wait) {
        this.observations = observations;
        this.waitContext = waitContext;
        this.holdContext = new LockObservationContext(waitContext.request());
        this.wait = wait;
    }

    @Override
    public void onGranted(long token, GrantSource source) {
        waitContext.granted(token);
        waitContext.ended(TagValue.of(source));
        wait.stop();
        holdContext.granted(token);
        hold = observations.beginHold(holdContext, waitContext);
    }

    @Override
    public void onNotGranted(WaitEnd end) {
        waitContext.ended(TagValue.of(end));
        wait.stop();
    }

    @Override
    public void onLost(Loss loss) {
        Observation present = hold;
        if (present != null) {
            present.event(LockObservation.HoldEvent.LOST);
            present.error(new LockLostException(loss));
        }
    }

    @Override
    public void onReleased(ReleaseOutcome outcome) {
        Observation present = hold;
        if (present != null) {
            holdContext.ended(TagValue.of(outcome));
            present.stop();
        }
    }
}
