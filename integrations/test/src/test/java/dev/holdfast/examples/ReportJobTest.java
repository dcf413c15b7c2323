package dev.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(HoldfastExtension.class)
class ReportJobTest {

    @Test
    void runsAndReleases(Holdfast holdfast, TestStore store) throws Exception {
        assertThat(new ReportJob(holdfast).run()).isTrue();
        store.assertNothingHeld();
    }

    @Test
    void givesUpWhenTaken(Holdfast holdfast, TestStore store) throws Exception {
        ReportJob job = new ReportJob(holdfast);
        Hold other = store.take("report"); // by another process
        assertThat(store.callWhileTimePasses(job::run)).isFalse(); // ten minutes, at once
        other.close();
    }

    @Test
    void waitsForItsTurn(Holdfast holdfast, TestStore store) throws Exception {
        Hold other = store.take("report");
        store.after(Duration.ofMinutes(3), other::close);
        assertThat(store.callWhileTimePasses(new ReportJob(holdfast)::run)).isTrue();
    }

    @Test
    void stopsWritingAfterALoss(Holdfast holdfast, TestStore store) throws Exception {
        ReportJob job = new ReportJob(holdfast);
        job.begin();
        store.advance(Duration.ofHours(8)); // renewed all the time
        assertThat(job.mayWrite()).isTrue();
        store.pause(Duration.ofMinutes(1)); // longer than the lease
        assertThat(job.mayWrite()).isFalse();
    }

    @Test
    void saysThatTheStoreIsDown(Holdfast holdfast, TestStore store) {
        ReportJob job = new ReportJob(holdfast);
        store.goDown();
        assertThatThrownBy(() -> store.callWhileTimePasses(job::run)).isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void queuesInTheBackground(Holdfast holdfast, TestStore store) throws Exception {
        Hold other = store.take("report");
        CompletableFuture<Hold> job = holdfast.lock("report").acquireAsync().toCompletableFuture();
        store.awaitWaiting("report", 1);
        store.advance(Duration.ofHours(1));
        assertThat(job).isNotDone();
        other.close();
        job.get(1, TimeUnit.MINUTES).close();
    }
}
