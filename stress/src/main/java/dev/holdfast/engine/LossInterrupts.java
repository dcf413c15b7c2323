package dev.holdfast.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.holdfast.spi.support.LossInterrupt;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/**
 * A loss interrupts the work under the lock, also when work under another lock ends inside of it, and nothing that its
 * thread does later.
 */
@JCStressTest
@Outcome(id = "true, true, false", expect = ACCEPTABLE, desc = "Both lost; each work is interrupted.")
@Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "The inner lock is lost during its work.")
@Outcome(id = "false, true, false", expect = ACCEPTABLE, desc = "The outer lock is lost.")
@Outcome(id = "false, false, false", expect = ACCEPTABLE, desc = "Not interrupted, or too late to tell.")
@Outcome(expect = FORBIDDEN, desc = "Interrupted after the work.")
@State
public class LossInterrupts {

    /** How often the worker polls for an interrupt that comes late, and the other for the work. */
    private static final int POLLS = 500;

    private volatile LossInterrupt outer;
    private volatile LossInterrupt inner;

    @Actor
    public void work(ZZZ_Result r) {
        LossInterrupt outerWork = LossInterrupt.begin();
        outer = outerWork;
        LossInterrupt innerWork = LossInterrupt.begin();
        inner = innerWork;
        // Swallows the interrupt, whichever lock it is for.
        r.r1 = Thread.interrupted();
        innerWork.end();
        r.r2 = Thread.currentThread().isInterrupted();
        outerWork.end();
        for (int i = 0; i < POLLS; i++) {
            r.r3 |= Thread.interrupted();
        }
    }

    @Actor
    public void lose() {
        LossInterrupt begun = inner;
        for (int i = 0; begun == null && i < POLLS; i++) {
            begun = inner;
        }
        if (begun != null) {
            begun.fire();
            outer.fire();
        }
    }
}
