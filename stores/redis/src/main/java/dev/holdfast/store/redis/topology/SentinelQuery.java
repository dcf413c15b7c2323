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
 * One query for the primary: collects what each Sentinel answers, until all have answered or the others are not waited
 * for any longer.
 */
final class SentinelQuery {

    /** What one Sentinel says. */
    record Vote(String host, int port, long election) {

        /** Reads what it answers to {@code SENTINEL MASTER}. */
        static Vote read(Map<byte[], byte[]> told) {
            Map<String, String> words = new HashMap<>();
            told.forEach((key, value) -> words.put(text(key), text(value)));
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

    /** Who is the primary by the latest election; or why nobody could tell. */
    CompletionStage<Vote> result() {
        return result;
    }

    /**
     * Notes what a Sentinel says, or why it says nothing.
     *
     * @return whether it is the first to name a primary
     */
    boolean heard(@Nullable Vote vote, @Nullable Throwable failure) {
        boolean isFirst;
        boolean isLast;
        synchronized (this) {
            missing--;
            isLast = missing == 0;
            isFirst = vote != null && best == null;
            if (vote != null && (best == null || vote.election() > best.election())) {
                best = vote;
            }
            // What a Sentinel said of it tells more than that another one could not be reached.
            if (failure != null && (why == null || RedisFailures.isWordOfServer(failure))) {
                why = failure;
            }
        }
        if (isLast) {
            end();
        }
        return isFirst;
    }

    /** Waits for no more of them. */
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
