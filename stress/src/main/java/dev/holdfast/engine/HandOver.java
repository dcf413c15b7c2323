package dev.holdfast.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIZ_Result;

/** What one owner wrote to plain fields the next one sees, and no two have one token. */
public final class HandOver {

    private HandOver() {}

    /** The lock and what it guards. */
    public abstract static class Guarded {
        final DistributedLock lock = StressClient.lock();
        private int count;
        private long newestToken;
        private boolean isInOrder = true;

        final int next(Hold hold) {
            long token = hold.fencingToken();
            isInOrder &= token > newestToken;
            newestToken = token;
            return ++count;
        }

        final int asThread() {
            try (Hold hold = lock.acquire()) {
                return next(hold);
            } catch (InterruptedException e) {
                throw new AssertionError("nobody interrupts", e);
            }
        }

        final int asStage() {
            try (Hold hold = StressClient.holdOf(lock)) {
                return next(hold);
            }
        }

        final boolean isInOrder() {
            return isInOrder;
        }
    }

    /** From thread to thread. */
    @JCStressTest
    @Outcome(id = "1, 2, true", expect = ACCEPTABLE, desc = "One after the other.")
    @Outcome(id = "2, 1, true", expect = ACCEPTABLE, desc = "The other way round.")
    @Outcome(expect = FORBIDDEN, desc = "Both at a time, or one that did not see the other, or a token again.")
    @State
    public static class Threads extends Guarded {
        @Actor
        public void one(IIZ_Result r) {
            r.r1 = asThread();
        }

        @Actor
        public void other(IIZ_Result r) {
            r.r2 = asThread();
        }

        @Arbiter
        public void after(IIZ_Result r) {
            r.r3 = isInOrder();
        }
    }

    /** Between a thread and a stage. */
    @JCStressTest
    @Outcome(id = "1, 2, true", expect = ACCEPTABLE, desc = "The thread first.")
    @Outcome(id = "2, 1, true", expect = ACCEPTABLE, desc = "The stage first.")
    @Outcome(expect = FORBIDDEN, desc = "Both at a time, or one that did not see the other, or a token again.")
    @State
    public static class ThreadAndStage extends Guarded {
        @Actor
        public void thread(IIZ_Result r) {
            r.r1 = asThread();
        }

        @Actor
        public void stage(IIZ_Result r) {
            r.r2 = asStage();
        }

        @Arbiter
        public void after(IIZ_Result r) {
            r.r3 = isInOrder();
        }
    }
}
