package dev.holdfast.examples;

import dev.holdfast.BarrierMembership;
import dev.holdfast.DistributedDoubleBarrier;
import dev.holdfast.Holdfast;

/** The code of the page on double barriers, compiled. */
@SuppressWarnings("unused")
final class BarrierExamples {

    void meet(Holdfast holdfast) throws InterruptedException {
        DistributedDoubleBarrier stage = holdfast.barrier("stage-1", 3);
        try (BarrierMembership membership = stage.enter()) { // waits until three are there
            compute(membership.generation());
            membership.leave(); // waits until all three have left
        }
    }

    private static void compute(long generation) {}
}
