package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("C2")
@DisplayName("The interrupts at losses of a thread that works under one lock inside another")
class LossInterruptTest {

    private static final int STEPS = 6;

    private enum Step {
        LOSE_OUTER,
        LOSE_INNER,
        INTERRUPT_BY_OTHERS,
        SWALLOW,
        BEGIN_INNER,
        END_INNER
    }

    private enum Cause {
        NONE,
        LOSS,
        OTHERS,
        /** Others have interrupted after the work had swallowed an interrupt at a loss. */
        UNKNOWN
    }

    @AfterEach
    void clear() {
        boolean unused = Thread.interrupted();
    }

    /** One run of steps, beside what must come of it. */
    private static final class Run {
        private final LossInterrupt outer = LossInterrupt.begin();
        private LossInterrupt inner = outer;
        private boolean isOuterLost;
        private boolean isInnerLost;
        private boolean mayBeOfLoss;
        private Cause cause = Cause.NONE;

        void take(Step step) {
            switch (step) {
                case LOSE_OUTER -> {
                    outer.fire();
                    isOuterLost = true;
                    lose();
                }
                case LOSE_INNER -> {
                    inner.fire();
                    isInnerLost = true;
                    lose();
                }
                case INTERRUPT_BY_OTHERS -> {
                    Thread.currentThread().interrupt();
                    if (cause == Cause.NONE) {
                        cause = mayBeOfLoss ? Cause.UNKNOWN : Cause.OTHERS;
                    }
                }
                case SWALLOW -> {
                    boolean unused = Thread.interrupted();
                    cause = Cause.NONE;
                }
                case BEGIN_INNER -> {
                    inner = LossInterrupt.begin();
                    if (cause == Cause.NONE) {
                        isOuterLost = false;
                        mayBeOfLoss = false;
                    }
                }
                case END_INNER -> {
                    inner.end();
                    if (isInnerLost && cause != Cause.OTHERS) {
                        cause = Cause.NONE;
                        mayBeOfLoss = false;
                    }
                    if (isOuterLost) {
                        lose();
                    }
                }
            }
        }

        private void lose() {
            if (cause == Cause.NONE) {
                cause = Cause.LOSS;
                mayBeOfLoss = true;
            }
        }

        void check() {
            assertThat(Thread.currentThread().isInterrupted()).isEqualTo(cause != Cause.NONE);
        }

        void end(boolean isInnerUnderWay) {
            if (isInnerUnderWay) {
                take(Step.END_INNER);
                check();
            }
            outer.end();
            boolean isInterrupted = Thread.interrupted();
            if (cause == Cause.OTHERS) {
                assertThat(isInterrupted).isTrue();
            } else if (cause != Cause.UNKNOWN) {
                assertThat(isInterrupted).isFalse();
            }
        }
    }

    @Test
    @DisplayName("reach each work that must know, leave alone what others interrupted, and are over with the work")
    void everyOrder() {
        assertThat(explore(new ArrayList<>(), EnumSet.of(Step.LOSE_INNER, Step.BEGIN_INNER, Step.END_INNER)))
                .isGreaterThan(1_000);
    }

    /** Runs all orders of steps that begin with some; answers how many. */
    private static int explore(List<Step> steps, Set<Step> onceEach) {
        Run run = new Run();
        try {
            for (Step step : steps) {
                run.take(step);
                run.check();
            }
            run.end(isInnerUnderWay(steps));
        } catch (AssertionError e) {
            throw new AssertionError("after " + steps + ": " + e.getMessage(), e);
        }
        int runs = 1;
        for (Step step : Step.values()) {
            if (steps.size() < STEPS && mayFollow(steps, step) && !(onceEach.contains(step) && steps.contains(step))) {
                steps.add(step);
                runs += explore(steps, onceEach);
                steps.remove(steps.size() - 1);
            }
        }
        return runs;
    }

    private static boolean isInnerUnderWay(List<Step> steps) {
        return steps.contains(Step.BEGIN_INNER) && !steps.contains(Step.END_INNER);
    }

    private static boolean mayFollow(List<Step> steps, Step step) {
        return switch (step) {
            case LOSE_INNER, END_INNER -> isInnerUnderWay(steps);
            case LOSE_OUTER -> !steps.contains(Step.LOSE_OUTER);
            default -> true;
        };
    }

    @Test
    @DisplayName("are noticed by the outer work if the inner passes on an InterruptedException")
    void passedOn() {
        LossInterrupt outer = LossInterrupt.begin();
        LossInterrupt inner = LossInterrupt.begin();
        outer.fire();
        assertThat(Thread.interrupted()).isTrue();
        inner.end();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();

        inner.passOn();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        LossInterrupt.begin().end();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        outer.end();
    }

    @Test
    @DisplayName("that are passed on leave what others interrupted")
    void passedOnBesideOthers() {
        LossInterrupt outer = LossInterrupt.begin();
        LossInterrupt inner = LossInterrupt.begin();
        Thread.currentThread().interrupt();
        outer.fire();
        inner.end();

        inner.passOn();
        outer.end();

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @DisplayName("come no more once the work has ended")
    void afterTheEnd() {
        LossInterrupt outer = LossInterrupt.begin();
        LossInterrupt inner = LossInterrupt.begin();
        inner.end();
        inner.fire();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        outer.end();
        outer.fire();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    @DisplayName("may end in another order than the work: a leader that knows of its end works on under a lost lock")
    void outerEndsFirst() {
        LossInterrupt outer = LossInterrupt.begin();
        LossInterrupt inner = LossInterrupt.begin();
        inner.fire();
        outer.fire();
        assertThat(Thread.interrupted()).isTrue();

        outer.end();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();

        inner.end();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }
}
