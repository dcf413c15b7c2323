package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Virtual threads")
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "there are no virtual threads before Java 21")
class VirtualThreadsTest {

    private static final int THREADS = 10_000;
    private static final long DEADLINE_SECONDS = 60;

    @TempDir
    private Path directory;

    /** Guarded by the lock of the test. */
    private int count;

    @ParameterizedTest
    @ValueSource(strings = {"memory:", "sqlite:"})
    @DisplayName("wait for one lock, ten thousand of them, and none keeps its carrier")
    void nonePinned(String store) throws Exception {
        String uri = store.equals("sqlite:") ? store + directory.resolve("locks.db") : store;
        Path file = directory.resolve("pinned.jfr");
        try (Holdfast holdfast = Holdfast.connect(uri);
                Recording recording = new Recording()) {
            recording.enable("jdk.VirtualThreadPinned").withoutThreshold().withStackTrace();
            DistributedLock lock = holdfast.lock("crowded");
            CountDownLatch asking = new CountDownLatch(THREADS);
            CountDownLatch done = new CountDownLatch(THREADS);
            recording.start();
            try (Hold ignored = lock.acquire()) {
                for (int i = 0; i < THREADS; i++) {
                    startVirtual(() -> {
                        asking.countDown();
                        lock.lock();
                        count++;
                        lock.unlock();
                        done.countDown();
                    });
                }
                assertThat(asking.await(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(done.await(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            recording.stop();
            recording.dump(file);
            lock.lock();
            assertThat(count).isEqualTo(THREADS);
            lock.unlock();
        }
        assertThat(RecordingFile.readAllEvents(file))
                .filteredOn(event -> event.getEventType().getName().equals("jdk.VirtualThreadPinned"))
                .isEmpty();
    }

    /** By reflection, because this is compiled for Java 17. */
    private static void startVirtual(Runnable task) throws ReflectiveOperationException {
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }
}
