package dev.holdfast.store.zookeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a client knows of the leader's clock, which in truth shows its own wall clock here, in milliseconds. */
class ServerClockTest {

    private long wall = 1_750_000_000_000L;
    private long monotonic = 1_000;

    private final ServerClock clock = new ServerClock(() -> TimeUnit.MILLISECONDS.toNanos(monotonic), () -> wall);

    private void pass(long millis) {
        wall += millis;
        monotonic += millis;
    }

    /** Samples the time of a write whose request and answer took this long. */
    private void sample(long toServer, long sleeping, long back) {
        long sent = TimeUnit.MILLISECONDS.toNanos(monotonic);
        long sentWall = wall;
        pass(toServer);
        long mtime = wall;
        wall += sleeping;
        pass(back);
        clock.sample(mtime, sent, sentWall);
    }

    private void expectBetweenTheBounds() {
        assertThat(clock.time().earliestMicros()).isLessThanOrEqualTo(wall * 1_000);
        assertThat(clock.time().latestMicros()).isGreaterThanOrEqualTo(wall * 1_000);
    }

    @Test
    void knowsTheTimeBetweenBoundsThatALateAnswerMovesApart() {
        sample(20, 0, 500);
        expectBetweenTheBounds();
        assertThat(clock.time().latestMicros() - clock.time().earliestMicros()).isBetween(520_000L, 530_000L);
        pass(60_000);
        expectBetweenTheBounds();
    }

    @Test
    void timeHasPassedWhileTheMachineSlept() {
        sample(1, 0, 1);
        pass(100);
        wall += 20_000;
        expectBetweenTheBounds();
        pass(1_000);
        expectBetweenTheBounds();
    }

    @Test
    void timeHasPassedWhileTheMachineSleptBeforeTheAnswer() {
        sample(1, 20_000, 1);
        expectBetweenTheBounds();
    }

    @Test
    void clockOfTheMachineThatIsSetBackChangesNothing() {
        sample(1, 0, 1);
        long latest = clock.time().latestMicros();
        wall -= 3_600_000;
        assertThat(clock.time().latestMicros()).isBetween(latest - 1_000, latest);
    }
}
