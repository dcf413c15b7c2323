package dev.holdfast.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.engine.local.LocalHold;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.IZ_Result;
import org.openjdk.jcstress.infra.results.LI_Result;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/** What others see of a hold that is being lost. */
public final class Losses {

    private Losses() {}

    /** A hold. */
    public abstract static class Holding {
        final LocalHold hold = StressClient.holdOf(StressClient.lock());

        final void lose(Loss.Cause cause) {
            StressClient.lose(hold, cause);
        }

        final String release() {
            return hold.releaseAsync().toCompletableFuture().join().name();
        }
    }

    /** Who knows of the loss does not find the hold good. */
    @JCStressTest
    @Outcome(id = "false, true, true", expect = ACCEPTABLE, desc = "Not lost yet.")
    @Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "Lost between the questions.")
    @Outcome(id = "false, false, false", expect = ACCEPTABLE, desc = "Lost, and not told yet when asked.")
    @Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "Told and lost.")
    @Outcome(expect = FORBIDDEN, desc = "Held after the loss was told, or again.")
    @State
    public static class HeldAfterwards extends Holding {
        private volatile boolean isTold;

        public HeldAfterwards() {
            hold.onLost(loss -> isTold = true);
        }

        @Actor
        public void lose() {
            lose(Loss.Cause.REMOVED);
        }

        @Actor
        public void ask(ZZZ_Result r) {
            r.r1 = isTold;
            r.r2 = hold.isHeld();
            r.r3 = ensured();
        }

        private boolean ensured() {
            try {
                hold.ensureHeld();
                return true;
            } catch (LockLostException lost) {
                return false;
            }
        }

        @Arbiter
        public void end() {
            release();
        }
    }

    /** A listener added during the loss is notified once. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Each was told once.")
    @Outcome(expect = FORBIDDEN, desc = "Not told, or again.")
    @State
    public static class ToldOnce extends Holding {
        private final AtomicInteger early = new AtomicInteger();
        private final AtomicInteger late = new AtomicInteger();

        public ToldOnce() {
            hold.onLost(loss -> early.incrementAndGet());
        }

        @Actor
        public void lose() {
            lose(Loss.Cause.REMOVED);
        }

        @Actor
        public void listen() {
            hold.onLost(loss -> late.incrementAndGet());
        }

        @Arbiter
        public void end(II_Result r) {
            r.r1 = early.get();
            r.r2 = late.get();
            release();
        }
    }

    /** Of two threads that detect the loss, one reports it. */
    @JCStressTest
    @Outcome(id = "1, true", expect = ACCEPTABLE, desc = "Told once, with the cause that stays.")
    @Outcome(expect = FORBIDDEN, desc = "Not told, or again, or with another cause.")
    @State
    public static class FoundTwice extends Holding {
        private final AtomicInteger notifications = new AtomicInteger();
        private volatile Loss.Cause cause;

        public FoundTwice() {
            hold.onLost(loss -> {
                cause = loss.cause();
                notifications.incrementAndGet();
            });
        }

        @Actor
        public void one() {
            lose(Loss.Cause.REMOVED);
        }

        @Actor
        public void other() {
            lose(Loss.Cause.SESSION_ENDED);
        }

        @Arbiter
        public void end(IZ_Result r) {
            r.r1 = notifications.get();
            Loss loss = hold.loss();
            r.r2 = loss != null && loss.cause() == cause;
            release();
        }
    }

    /** A hold ends once: released or lost. */
    @JCStressTest
    @Outcome(id = "RELEASED, 0", expect = ACCEPTABLE, desc = "Given back before it was lost.")
    @Outcome(id = "LOST, 1", expect = ACCEPTABLE, desc = "Lost before it was given back.")
    @Outcome(expect = FORBIDDEN, desc = "The release and the listener were told different things.")
    @State
    public static class ReleasedMeanwhile extends Holding {
        private final AtomicInteger notifications = new AtomicInteger();

        public ReleasedMeanwhile() {
            hold.onLost(loss -> notifications.incrementAndGet());
        }

        @Actor
        public void release(LI_Result r) {
            r.r1 = release();
        }

        @Actor
        public void lose() {
            lose(Loss.Cause.REMOVED);
        }

        @Arbiter
        public void after(LI_Result r) {
            r.r2 = notifications.get();
        }
    }
}
