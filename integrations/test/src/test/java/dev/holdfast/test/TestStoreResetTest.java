package dev.holdfast.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.Leadership;
import dev.holdfast.task.TaskOptions;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A test's store that is reset")
class TestStoreResetTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    private final TestStore store = TestStore.create();
    private final DistributedLock lock = store.client().lock("report");

    @AfterEach
    void close() {
        store.close();
    }

    private void expectAsGoodAsNew() throws InterruptedException {
        Hold hold = lock.tryAcquire().orElseThrow();
        hold.close();
        store.assertNothingHeld();
        store.take("report").close();
    }

    private void refuses(String message) {
        assertThatThrownBy(store::reset)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(message);
    }

    @Test
    @DisplayName("has no fault, and a client that has recovered from those that it had")
    void endsFaults() throws Exception {
        store.loseAnswers();
        assertThatThrownBy(() -> store.callWhileTimePasses(lock::tryAcquire))
                .isInstanceOf(StoreUnavailableException.class);
        store.goSilent();
        store.advance(Duration.ofMinutes(5));
        assertThat(store.client().state().isConnected()).isFalse();
        store.slowDown(Duration.ofSeconds(3));
        store.reset();
        expectAsGoodAsNew();
    }

    @Test
    @DisplayName("is free of what somebody else was made to take, and of what was to happen later")
    void endsOthers() throws Exception {
        Hold other = store.take("report");
        Hold lost = store.take("invoice");
        var unused = store.elsewhere().forceRelease("invoice", lost.fencingToken());
        store.after(Duration.ofMinutes(1), () -> {
            throw new AssertionError("should not happen any more");
        });
        store.reset();
        expectAsGoodAsNew();
        store.advance(Duration.ofHours(1));
        assertThat(other.isHeld()).isFalse();
    }

    @Test
    @DisplayName("knows nothing of tasks that ran, here or elsewhere")
    void forgetsTasks() {
        TaskOptions options = TaskOptions.atMost(Duration.ofHours(2)).withAtLeast(Duration.ofHours(1));
        assertThat(store.client().task("nightly").runIfDue(options, hold -> {}).hasRun())
                .isTrue();
        assertThat(store.elsewhere()
                        .task("weekly")
                        .runIfDue(options, hold -> {})
                        .hasRun())
                .isTrue();
        store.reset();
        assertThat(store.client().task("nightly").runIfDue(options, hold -> {}).hasRun())
                .isTrue();
        assertThat(store.client().task("weekly").runIfDue(options, hold -> {}).hasRun())
                .isTrue();
    }

    @Test
    @DisplayName("lets waits of the program come to their end, and does not grant what they wait for")
    void endsWaits() throws Exception {
        var unused = store.take("report");
        CompletableFuture<Hold> waiting = lock.acquireAsync(
                        AcquireOptions.defaults().withMaxWait(Duration.ofMinutes(1)))
                .toCompletableFuture();
        store.awaitWaiting("report", 1);
        store.reset();
        assertThat(waiting).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LockWaitTimeoutException.class);
        expectAsGoodAsNew();
    }

    @Test
    @DisplayName("leaves a campaign of the program its term")
    void keepsTerms() throws Exception {
        BlockingQueue<Leadership> terms = new LinkedBlockingQueue<>();
        try (Campaign campaign = store.client().election("importer").campaign(CampaignOptions.defaults(), terms::add)) {
            Leadership term = terms.poll(LONG.toSeconds(), TimeUnit.SECONDS);
            store.reset();
            assertThat(campaign.leadership()).contains(term);
            assertThat(term.isLeader()).isTrue();
            assertThat(terms).isEmpty();
        }
    }

    @Test
    @DisplayName("refuses while the program holds something, or has not closed what it has lost")
    void refusesHolds() throws Exception {
        Hold hold = lock.acquire();
        refuses("the program has not finished: 'report' is held.");
        store.loseLock("report");
        refuses("the program has not finished: 'report' was lost, but its hold is not closed.");
        assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        store.reset();
        expectAsGoodAsNew();
    }

    @Test
    @DisplayName("refuses while the program waits without end, and leaves to others what it waits for")
    void refusesWaits() throws Exception {
        Hold other = store.take("report");
        CompletableFuture<Hold> waiting = lock.acquireAsync().toCompletableFuture();
        store.awaitWaiting("report", 1);
        refuses("the program has not finished: 'report' has a waiter.");
        assertThat(other.isHeld()).isTrue();
        other.close();
        waiting.get(LONG.toSeconds(), TimeUnit.SECONDS).close();
        store.reset();
        expectAsGoodAsNew();
    }

    @Test
    @DisplayName("refuses while somebody else holds what the test has asked for by itself")
    void refusesElsewhere() throws Exception {
        Hold other = store.elsewhere().lock("report").acquire();
        refuses("others have not finished: 'report' is held.");
        other.close();
        store.reset();
        expectAsGoodAsNew();
    }

    @Test
    @DisplayName("refuses while a latch counts")
    void refusesLatches() throws Exception {
        assertThat(store.client().latch("ready").trySetCount(1)).isTrue();
        refuses("'ready' is in use.");
        assertThat(store.client().latch("ready").countDown()).isZero();
        store.reset();
        expectAsGoodAsNew();
    }

    @Test
    @DisplayName("refuses with a client that is closed, at once")
    void refusesClosed() {
        store.client().close();
        refuses("the client is CLOSED.");
    }
}
