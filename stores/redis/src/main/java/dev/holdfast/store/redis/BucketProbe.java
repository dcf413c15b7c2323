package dev.holdfast.store.redis;

import dev.holdfast.store.redis.connection.RedisFailures;
import dev.holdfast.store.redis.script.BucketLayout;
import dev.holdfast.store.redis.script.Script;
import dev.holdfast.store.redis.script.ScriptCall;
import dev.holdfast.store.redis.script.ScriptReply;
import dev.holdfast.store.redis.topology.Route;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Checks before a bucket is used that the server knows the script and this user may run it. */
final class BucketProbe {

    private static final int MOST_REDIRECTIONS = 16;

    private BucketProbe() {}

    /**
     * Loads the script and tries everything that a step may do; throws if that is not permitted or the keys contain
     * something else.
     */
    static void run(
            Route route,
            Script script,
            BucketLayout layout,
            int bucket,
            String client,
            Replicas replicas,
            Duration timeout) {
        StatefulRedisConnection<byte[], byte[]> connection = route.current();
        if (connection == null) {
            throw route.missing();
        }
        List<byte[]> arguments = new ArrayList<>(List.of(layout.header(bucket)));
        arguments.addAll(ScriptCall.probe(client).arguments());
        byte[][] all = arguments.toArray(byte[][]::new);
        List<Object> answers = null;
        for (int times = 0; answers == null; times++) {
            CompletableFuture<List<Object>> answer = connection
                    .async()
                    .<List<Object>>eval(script.text(), ScriptOutputType.MULTI, layout.keys(bucket), all)
                    .toCompletableFuture();
            Route.Onward onward = await(redirection(route, connection, answer, times), route, timeout);
            if (onward == null) {
                answers = await(answer, route, timeout);
            } else {
                connection = onward.connection();
            }
        }
        if (replicas.areAsked()) {
            // Only checks whether this is permitted; the answer does not matter.
            var unused = await(connection.async().waitForReplication(0, 1), route, timeout);
        }
        List<ScriptReply> read = ScriptReply.read(answers, 1, 0);
        if (read.isEmpty()) {
            throw RedisFailures.nonsense(route.server());
        }
        ScriptReply answer = read.get(0);
        if (answer.isFailure()) {
            throw RedisFailures.ofCommand(answer.failure(), answer.hadEffect(), route.server());
        }
    }

    /** Where the answer redirects to; null if it does not. */
    private static CompletionStage<Route.@Nullable Onward> redirection(
            Route route,
            StatefulRedisConnection<byte[], byte[]> connection,
            CompletableFuture<List<Object>> answer,
            int times) {
        return answer.handle((done, failure) -> failure == null || times == MOST_REDIRECTIONS
                        ? null
                        : route.onward(connection, failure, times, 0))
                .thenCompose(onward -> onward == null ? CompletableFuture.completedFuture(null) : onward);
    }

    private static <T extends @Nullable Object> T await(CompletionStage<T> stage, Route route, Duration timeout) {
        return RedisFailures.awaitOpening(stage, timeout, route.server());
    }
}
