package dev.holdfast.store.redis.topology;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.store.redis.connection.RedisFailures;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One query for the primary. Collects the Sentinels' answers until all are in or the grace period for the slower ones
 * ends.
 */
final class SentinelQuery {

    /** One Sentinel's answer. */
    record Vote(String host, int port, long election) {

        /** Reads the answer to {@code SENTINEL MASTER}. */
        static Vote read(Map<byte[], byte[]> answer) {
            Map<String, String> words = new HashMap<>();
            answer.forEach((key, value) -> words.put(text(key), text(value)));
            return new Vote(
                    words.getOrDefault("ip", ""),
                    Integer.parseInt(words.getOrDefault("port", "0")),
                    Long.parseLong(words.getOrDefault("config-epoch", "0")));
        }

        private static String text(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    private final CompletableFuture<Vote> result = new CompletableFuture<>();

    @GuardedBy("this")
    private int missing;

    @GuardedBy("this")
    private @Nullable Vote best;

    @GuardedBy("this")
    private @Nullable Throwable why;

    SentinelQuery(int asked) {
        this.missing = asked;
    }

    /** The primary of the latest election, or why no Sentinel named one. */
    CompletionStage<Vote> result() {
        return result;
    }

    /**
     * Adds a Sentinel's answer or failure.
     *
     * @return whether it is the first to name a primary
     */
    boolean add(@Nullable Vote vote, @Nullable Throwable failure) {
        boolean isFirst;
        boolean isLast;
        synchronized (this) {
            missing--;
            isLast = missing == 0;
            isFirst = vote != null && best == null;
            if (vote != null && (best == null || vote.election() > best.election())) {
                best = vote;
            }
            // A Sentinel's own refusal explains more than a failed connection to another one.
            if (failure != null && (why == null || RedisFailures.isFromServer(failure))) {
                why = failure;
            }
        }
        if (isLast) {
            end();
        }
        return isFirst;
    }

    /** Ends the query with the answers so far. */
    void end() {
        Vote elected;
        Throwable failure;
        synchronized (this) {
            elected = best;
            failure = why;
        }
        if (elected != null) {
            result.complete(elected);
        } else {
            result.completeExceptionally(
                    failure == null ? new IllegalStateException("There are no Sentinels") : failure);
        }
    }
}
