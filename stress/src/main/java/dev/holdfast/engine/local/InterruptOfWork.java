package dev.holdfast.engine.local;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A loss interrupts the work under the lock, and nothing that its thread does later. */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "Interrupted during the work.")
@Outcome(id = "false, false", expect = ACCEPTABLE, desc = "Not interrupted, or too late to tell.")
@Outcome(expect = FORBIDDEN, desc = "Interrupted after the work.")
@State
public class InterruptOfWork {

    /** How often the worker looks for an interrupt that comes late, and the other for the work. */
    private static final int LOOKS = 500;

    private volatile LossInterrupt interrupt;

    @Actor
    public void work(ZZ_Result r) {
        LossInterrupt mine = new LossInterrupt(Thread.currentThread());
        interrupt = mine;
        r.r1 = Thread.currentThread().isInterrupted();
        mine.disarm();
        for (int i = 0; i < LOOKS; i++) {
            r.r2 |= Thread.interrupted();
        }
    }

    @Actor
    public void lose() {
        LossInterrupt begun = interrupt;
        for (int i = 0; begun == null && i < LOOKS; i++) {
            begun = interrupt;
        }
        if (begun != null) {
            begun.fire();
        }
    }
}
