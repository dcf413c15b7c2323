package dev.holdfast.micrometer;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.AcquisitionListener;
import dev.holdfast.HoldfastListener;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Observes each wait for a lock and each hold, for traces: with a tracing bridge, a wait and a hold are spans in the
 * trace of the request, and are exported with it to OpenTelemetry or Zipkin.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.builder("postgresql://db/orders")
 *         .listener(HoldfastMetrics.of(meters))
 *         .listener(HoldfastObservations.of(observations))
 *         .build();
 * }</pre>
 *
 * <p>The observations are those of {@link LockObservation}. They cost more than {@linkplain HoldfastMetrics meters},
 * and nothing while the registry is {@link ObservationRegistry#NOOP} or has no handler. No scope is opened:
 * observations of a program that holds a lock are siblings of the hold, not its children.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class HoldfastObservations implements HoldfastListener {

    private static final LockObservationConvention WAITS = new DefaultLockObservationConvention.Wait();
    private static final LockObservationConvention HOLDS = new DefaultLockObservationConvention.Hold();

    private final ObservationRegistry registry;
    private final @Nullable LockObservationConvention waitConvention;
    private final @Nullable LockObservationConvention holdConvention;

    private HoldfastObservations(Builder builder) {
        registry = builder.registry;
        waitConvention = builder.waitConvention;
        holdConvention = builder.holdConvention;
    }

    /** The observations of a client, with the default names and tags. */
    public static HoldfastObservations of(ObservationRegistry registry) {
        return builder(registry).build();
    }

    /** Begins to set up the observations of a client. */
    public static Builder builder(ObservationRegistry registry) {
        return new Builder(registry);
    }

    @Override
    public @Nullable AcquisitionListener onRequested(AcquireRequest request) {
        if (registry.isNoop()) {
            return null;
        }
        LockObservationContext context = new LockObservationContext(request);
        Observation wait = LockObservation.WAIT.observation(waitConvention, WAITS, () -> context, registry);
        return new ObservedAcquisition(this, context, wait.start());
    }

    /** Begins to observe a hold, as a sibling of its wait. */
    Observation beginHold(LockObservationContext context, LockObservationContext wait) {
        Observation hold = LockObservation.HOLD.observation(holdConvention, HOLDS, () -> context, registry);
        // A stage completes on a thread without the context of the trace.
        context.setParentObservation(wait.getParentObservation());
        return hold.start();
    }

    /**
     * Sets up observations.
     *
     * <p><b>Thread-safety:</b> none; a builder is used by one thread.
     */
    public static final class Builder {

        private final ObservationRegistry registry;
        private @Nullable LockObservationConvention waitConvention;
        private @Nullable LockObservationConvention holdConvention;

        private Builder(ObservationRegistry registry) {
            this.registry = registry;
        }

        /** The names and tags of waits; those of {@link DefaultLockObservationConvention} if not set. */
        @CanIgnoreReturnValue
        public Builder waitConvention(LockObservationConvention convention) {
            waitConvention = convention;
            return this;
        }

        /** The names and tags of holds; those of {@link DefaultLockObservationConvention} if not set. */
        @CanIgnoreReturnValue
        public Builder holdConvention(LockObservationConvention convention) {
            holdConvention = convention;
            return this;
        }

        /** The listener for {@link dev.holdfast.Holdfast.Builder#listener}. */
        public HoldfastObservations build() {
            return new HoldfastObservations(this);
        }
    }
}
