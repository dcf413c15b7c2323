package dev.holdfast.examples;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.Holdfast;
import java.time.Duration;
import java.util.List;

/** The code of the page on latches, compiled. */
@SuppressWarnings("unused")
final class LatchExamples {

    private interface Queue {
        void send(String file, long generation);
    }

    private final Queue queue = (file, generation) -> {};

    void coordinator(Holdfast holdfast, List<String> files) throws InterruptedException {
        DistributedCountDownLatch imported = holdfast.latch("imported");
        if (imported.trySetCount(files.size())) {
            long generation = imported.generation();
            files.forEach(file -> queue.send(file, generation));
        }
        if (imported.await(Duration.ofHours(2))) {
            publish();
        }
    }

    void worker(Holdfast holdfast, String file, long generation) {
        importFile(file);
        holdfast.latch("imported").countDown(idOf(file), generation);
    }

    private static String idOf(String file) {
        return Integer.toHexString(file.hashCode());
    }

    private static void importFile(String file) {}

    private static void publish() {}
}
