package dev.holdfast.engine.observe;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.Deadlock;
import dev.holdfast.HoldfastListener.AcquireRequest;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import java.util.Locale;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

/** The events of one acquisition in a flight recording. Used by one thread after another. */
final class JfrEvents implements AcquisitionListener {

    /** As for the JDK's own events of monitors and parking, so that short events don't flood a recording. */
    private static final String THRESHOLD = "20 ms";

    /** The fields of all events. */
    @Category("Holdfast")
    abstract static class OfResource extends Event {
        @Label("Resource")
        @Nullable
        String resource;

        @Label("Kind")
        @Nullable
        String kind;

        @Label("Store")
        @Nullable
        String store;

        @Label("Fencing Token")
        long token;

        final void describe(AcquireRequest request, long itsToken) {
            resource = request.name();
            kind = request.kind().name().toLowerCase(Locale.ROOT);
            store = request.store();
            token = itsToken;
        }
    }

    /** From the request to its end. */
    @Name("dev.holdfast.Wait")
    @Label("Lock Wait")
    @Description("A thread or an asynchronous request waited for a lock")
    @Threshold(THRESHOLD)
    static final class Wait extends OfResource {
        @Label("Outcome")
        @Nullable
        String outcome;
    }

    /** From the grant to the release. */
    @Name("dev.holdfast.Hold")
    @Label("Lock Hold")
    @Description("A lock was held")
    @Threshold(THRESHOLD)
    static final class Hold extends OfResource {
        @Label("Outcome")
        @Nullable
        String outcome;
    }

    /** A hold was lost. */
    @Name("dev.holdfast.Loss")
    @Label("Lock Loss")
    @Description("A lock ended before its owner released it")
    @StackTrace(false)
    static final class Lost extends OfResource {
        @Label("Cause")
        @Nullable
        String cause;
    }

    /** A lock was handed over in memory. */
    @Name("dev.holdfast.HandOver")
    @Label("Lock Hand-Over")
    @Description("A lock was handed over by another thread of this process, without a round trip to the store")
    @Enabled(false)
    @StackTrace(false)
    static final class HandOver extends OfResource {}

    /** Threads wait for each other. */
    @Name("dev.holdfast.Deadlock")
    @Category("Holdfast")
    @Label("Lock Deadlock")
    @Description("Threads of one or several processes wait for each other's locks in a circle")
    @StackTrace(false)
    static final class Cycle extends Event {
        @Label("Members")
        int members;

        @Label("Description")
        @Nullable
        String description;

        @Label("Store")
        @Nullable
        String store;
    }

    /** Records a deadlock. */
    static void record(Deadlock deadlock, String store) {
        Cycle event = new Cycle();
        if (event.shouldCommit()) {
            event.members = deadlock.members().size();
            event.description = deadlock.describe();
            event.store = store;
            event.commit();
        }
    }

    private final AcquireRequest request;
    private final Wait wait = new Wait();
    private final Hold hold = new Hold();
    private long token;

    JfrEvents(AcquireRequest request) {
        this.request = request;
        wait.begin();
    }

    @Override
    public void onGranted(long itsToken, GrantSource source) {
        token = itsToken;
        endWait("granted");
        hold.begin();
        HandOver handOver = new HandOver();
        if (source == GrantSource.LOCAL_HAND_OVER && handOver.shouldCommit()) {
            handOver.describe(request, token);
            handOver.commit();
        }
    }

    @Override
    public void onNotGranted(WaitEnd end) {
        endWait(inWords(end));
    }

    private void endWait(String outcome) {
        wait.end();
        if (wait.shouldCommit()) {
            wait.describe(request, token);
            wait.outcome = outcome;
            wait.commit();
        }
    }

    @Override
    public void onReleased(ReleaseOutcome outcome) {
        hold.end();
        if (hold.shouldCommit()) {
            hold.describe(request, token);
            hold.outcome = inWords(outcome);
            hold.commit();
        }
    }

    @Override
    public void onLost(Loss loss) {
        Lost event = new Lost();
        if (event.shouldCommit()) {
            event.describe(request, token);
            event.cause = inWords(loss.cause());
            event.commit();
        }
    }

    private static String inWords(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
