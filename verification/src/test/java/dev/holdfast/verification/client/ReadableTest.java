package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.Permits;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.task.TaskRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What a person reads in a debugger or a log, and what the compiler lets them write. */
class ReadableTest {

    @AutoClose
    private final Holdfast holdfast =
            Holdfast.builder("memory:").label("web1 pid 12").build();

    @Test
    void holdsTellWhatTheyAreAndWhatBecameOfThem() throws Exception {
        DistributedLock lock = holdfast.lock("nightly-report");
        Hold hold = lock.acquire();
        String shown = "Hold[nightly-report, token " + hold.fencingToken();
        assertThat(hold).hasToString(shown + ", held, memory]");
        try (Hold nested = lock.acquire()) {
            assertThat(nested).hasToString(shown + ", nested, held, memory]");
        }
        hold.close();
        assertThat(hold).hasToString(shown + ", released, memory]");
        try (Permits two = holdfast.semaphore("gpu", 4).acquire(2)) {
            assertThat(two).hasToString("Permits[2 of gpu, token " + two.fencingToken() + ", held, memory]");
        }
        Hold lost = lock.acquire();
        assertThat(holdfast).hasToString("Holdfast[memory, label 'web1 pid 12']");
        holdfast.close();
        assertThat(lost.toString()).endsWith(", lost, memory]");
        assertThat(holdfast).hasToString("Holdfast[memory, label 'web1 pid 12', closed]");
    }

    @Test
    @SuppressWarnings("NullAway")
    void nullIsRefusedInWords() {
        assertThatThrownBy(() -> Holdfast.connect(null)).hasMessage("the store URI must not be null");
        assertThatThrownBy(() -> holdfast.lock(null)).hasMessage("the name of a lock must not be null");
        assertThatThrownBy(() -> holdfast.semaphore(null, 2)).hasMessage("the name of a lock must not be null");
    }

    @Test
    void whatIsDoneUnderALockNeedNotReturnAnything() throws Exception {
        List<Long> done = new ArrayList<>();
        DistributedLock lock = holdfast.lock("nightly-report");
        lock.runWhileHeld(hold -> done.add(hold.fencingToken()));
        lock.runWhileHeld(hold -> {
            done.add(hold.fencingToken());
        });
        AcquireOptions brief = AcquireOptions.defaults().withMaxWait(Duration.ofMillis(1));
        lock.runWhileHeld(brief, hold -> done.clear());
        assertThat(lock.<String, RuntimeException>callWhileHeld(brief, hold -> "value"))
                .isEqualTo("value");
        assertThat(done).isEmpty();
        TaskRun<?> run = holdfast.task("nightly")
                .runIfDue(
                        TaskOptions.atMost(Duration.ofHours(1)).withAtLeast(Duration.ofMinutes(5)),
                        hold -> done.add(hold.fencingToken()));
        assertThat(run.hasRun()).isTrue();
        assertThat(done).hasSize(1);
        try (Holdfast other = Holdfast.connect("memory:whileheld");
                Holdfast another = Holdfast.connect("memory:whileheld");
                Hold held = other.lock("x").acquire()) {
            assertThat(held.isHeld()).isTrue();
            assertThatThrownBy(() -> another.lock("x").runWhileHeld(brief, hold -> done.clear()))
                    .isInstanceOf(LockWaitTimeoutException.class);
            assertThatThrownBy(() -> another.lock("x")
                            .runWhileHeldAsync(brief, hold -> hold.releaseAsync())
                            .toCompletableFuture()
                            .join())
                    .hasCauseInstanceOf(LockWaitTimeoutException.class);
        }
        assertThat(done).hasSize(1);
    }
}
