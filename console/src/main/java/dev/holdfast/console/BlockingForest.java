package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * Which holders others wait behind, over all locks. What a holder itself waits for is not recorded at stores, so each
 * tree has one level: a session has many threads, and its other claims may belong to another one.
 *
 * @param roots the holders that others wait behind, those with the most claims behind first
 */
record BlockingForest(List<Root> roots) {

    /**
     * A lock that is waited for.
     *
     * @param holder its oldest holder
     */
    record Root(SeenLock lock, LockInfo.Holder holder) {

        Duration longestWait(Instant now) {
            Instant since = lock.waitedSince();
            return since == null ? Duration.ZERO : Duration.between(since, now);
        }
    }

    /** Reads the locks, so it is called inside of {@link SeenStore#read}. */
    static BlockingForest of(Collection<SeenLock> locks) {
        return new BlockingForest(locks.stream()
                .filter(lock -> lock.waiting() > 0 && !lock.info().holders().isEmpty())
                .sorted(Comparator.comparing(SeenLock::waiting).reversed().thenComparing(SeenLock::name))
                .map(lock -> new Root(lock, lock.info().holders().get(0)))
                .toList());
    }
}
