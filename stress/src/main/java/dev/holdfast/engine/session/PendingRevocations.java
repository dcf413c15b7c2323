package dev.holdfast.engine.session;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JZ_Result;
import org.openjdk.jcstress.infra.results.J_Result;
import org.openjdk.jcstress.infra.results.Z_Result;

/** No signal against a belief is overlooked, and no answer that settles it. */
public final class PendingRevocations {

    private PendingRevocations() {}

    /** Two signals. */
    @JCStressTest
    @Outcome(id = "2", expect = ACCEPTABLE, desc = "Both were heard.")
    @Outcome(expect = FORBIDDEN, desc = "One was lost: an answer to a question before it would settle it.")
    @State
    public static class HeardByTwo {
        private final PendingRevocation revocation = new PendingRevocation();

        @Actor
        public void one() {
            revocation.add();
        }

        @Actor
        public void other() {
            revocation.add();
        }

        @Arbiter
        public void after(J_Result r) {
            r.r1 = revocation.count();
        }
    }

    /** A signal while the store is asked because of one before. */
    @JCStressTest
    @Outcome(id = "1, true", expect = ACCEPTABLE, desc = "Heard after the question: open.")
    @Outcome(id = "2, false", expect = ACCEPTABLE, desc = "Heard before the question: settled.")
    @Outcome(expect = FORBIDDEN, desc = "Settled by a question that did not know of it, or never.")
    @State
    public static class HeardWhileAsked {
        private final PendingRevocation revocation = new PendingRevocation();

        public HeardWhileAsked() {
            revocation.add();
        }

        @Actor
        public void signal() {
            revocation.add();
        }

        @Actor
        public void ask(JZ_Result r) {
            r.r1 = revocation.count();
            revocation.settle(r.r1);
        }

        @Arbiter
        public void after(JZ_Result r) {
            r.r2 = revocation.isOpen();
        }
    }

    /** Answers to two questions, of which the older one may come last. */
    @JCStressTest
    @Outcome(id = "false", expect = ACCEPTABLE, desc = "Settled by the newer one.")
    @Outcome(expect = FORBIDDEN, desc = "The older one has undone the newer.")
    @State
    public static class SettledByTwo {
        private final PendingRevocation revocation = new PendingRevocation();

        public SettledByTwo() {
            revocation.add();
            revocation.add();
        }

        @Actor
        public void older() {
            revocation.settle(1);
        }

        @Actor
        public void newer() {
            revocation.settle(2);
        }

        @Arbiter
        public void after(Z_Result r) {
            r.r1 = revocation.isOpen();
        }
    }
}
