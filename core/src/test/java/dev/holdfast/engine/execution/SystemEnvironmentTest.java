package dev.holdfast.engine.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The system's environment")
class SystemEnvironmentTest {

    @AutoClose
    private final SystemEnvironment environment = new SystemEnvironment();

    @Test
    @DisplayName("runs renewals while another timer takes its time, whatever stands before it")
    void renewalsWaitForNoTimer() throws InterruptedException {
        FailsafeEnvironment failsafe = new FailsafeEnvironment(environment);
        CountDownLatch isStuck = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        CountDownLatch isRenewed = new CountDownLatch(1);
        failsafe.schedule(0, () -> {
            isStuck.countDown();
            Uninterruptibles.run(mayEnd::await);
        });
        assertThat(isStuck.await(60, TimeUnit.SECONDS)).isTrue();

        failsafe.scheduleRenewal(0, isRenewed::countDown);

        assertThat(isRenewed.await(60, TimeUnit.SECONDS)).isTrue();
        mayEnd.countDown();
    }

    @Test
    @DisplayName("runs no renewal that was cancelled")
    void cancelled() throws InterruptedException {
        CountDownLatch isRenewed = new CountDownLatch(2);
        environment
                .scheduleRenewal(TimeUnit.HOURS.toNanos(1), isRenewed::countDown)
                .cancel();
        environment.scheduleRenewal(0, isRenewed::countDown);
        CountDownLatch isLater = new CountDownLatch(1);
        environment.scheduleRenewal(0, isLater::countDown);
        assertThat(isLater.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(isRenewed.getCount()).isEqualTo(1);
    }

    @Test
    @DisplayName("runs callbacks while others block, before it is closed and after")
    void callbacksWaitForNoOthers() throws InterruptedException {
        CountDownLatch mayEnd = new CountDownLatch(1);
        Runnable blocks = () -> Uninterruptibles.run(mayEnd::await);
        for (boolean closes : new boolean[] {false, true}) {
            for (int i = 0; i < 100; i++) {
                environment.callbacks().execute(blocks);
            }
            CountDownLatch isCalled = new CountDownLatch(1);
            environment.callbacks().execute(isCalled::countDown);
            if (closes) {
                environment.close();
            }
            assertThat(isCalled.await(10, TimeUnit.SECONDS)).isTrue();
        }
        mayEnd.countDown();
    }

    @Test
    @DisplayName("runs callbacks that do not block on few threads")
    void callbacksShareThreads() throws InterruptedException {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        CountDownLatch areDone = new CountDownLatch(10_000);
        for (int i = 0; i < 10_000; i++) {
            environment.callbacks().execute(() -> {
                threads.add(Thread.currentThread());
                areDone.countDown();
            });
        }
        assertThat(areDone.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(threads).hasSizeLessThan(64);
    }
}
