package dev.holdfast.micrometer;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import io.micrometer.core.instrument.Clock;
import java.util.concurrent.TimeUnit;

/**
 * Measures one acquisition, in few steps, since a lock may be handed over a million times a second. Used by one thread
 * after another; each method is called at most once.
 */
final class AcquisitionMeters implements AcquisitionListener {

    /** The wait recorded for a local hand-over without a wait. */
    private static final long AT_ONCE_NANOS = 1_000;

    private final Clock clock;
    private final ClientGauges gauges;
    private final LockMeters meters;

    /** The start of the wait, and later of the hold. */
    private long since;

    private boolean isLost;

    AcquisitionMeters(Clock clock, ClientGauges gauges, LockMeters meters) {
        this.clock = clock;
        this.gauges = gauges;
        this.meters = meters;
        since = clock.monotonicTime();
        gauges.requested.increment();
    }

    @Override
    public void onGranted(long token, GrantSource source) {
        long now = clock.monotonicTime();
        long waited = now - since;
        since = now;
        Outcome outcome = meters.granted(source);
        outcome.count();
        if (waited >= AT_ONCE_NANOS || source == GrantSource.STORE) {
            outcome.waited(waited);
        }
    }

    @Override
    public void onNotGranted(WaitEnd end) {
        Outcome outcome = meters.notGranted(end);
        outcome.count();
        outcome.waited(clock.monotonicTime() - since);
    }

    @Override
    public void onLost(Loss loss) {
        isLost = true;
        gauges.ended.increment();
        meters.lost(loss.cause()).increment();
    }

    @Override
    public void onReleased(ReleaseOutcome outcome) {
        if (!isLost) {
            gauges.ended.increment();
        }
        meters.holdTime(outcome).record(clock.monotonicTime() - since, TimeUnit.NANOSECONDS);
    }
}
