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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Probe that a bucket passes before it is used: the script is known, and this user may run it. */
final class BucketProbe {

    private static final int MOST_REDIRECTIONS = 16;

    private BucketProbe() {}

    /**
     * Tells the server the script, and has it do all that a step may do; throws if that is not permitted or something
     * else is in the place.
     */
    static void run(
            Route route,
            Script script,
            BucketLayout layout,
            int bucket,
            String client,
            Replicas replicas,
            Duration patience) {
        StatefulRedisConnection<byte[], byte[]> connection = route.current();
        if (connection == null) {
            throw route.missing();
        }
        List<byte[]> arguments = new ArrayList<>(List.of(layout.header(bucket)));
        arguments.addAll(ScriptCall.probe(client).arguments());
        byte[][] all = arguments.toArray(byte[][]::new);
        List<Object> answers = null;
        for (int times = 0; answers == null; times++) {
            CompletionStage<List<Object>> told = connection
                    .async()
                    .<List<Object>>eval(script.text(), ScriptOutputType.MULTI, layout.keys(bucket), all);
            CompletionStage<Route.Onward> onward = elsewhere(route, connection, told, times, patience);
            if (onward == null) {
                answers = await(told, route, patience);
            } else {
                connection = await(onward, route, patience).connection();
            }
        }
        if (replicas.areAsked()) {
            // Not for long, and whatever the answer is: only whether it may be asked.
            var unused = await(connection.async().waitForReplication(0, 1), route, patience);
        }
        List<ScriptReply> read = ScriptReply.read(answers, 1, 0);
        if (read.isEmpty()) {
            throw RedisFailures.nonsense(route.server());
        }
        ScriptReply answer = read.get(0);
        if (answer.isFailure()) {
            throw RedisFailures.ofStep(answer.failure(), answer.hadEffect(), route.server());
        }
    }

    /** Where to ask instead; null if this is the server to ask, whatever it has answered. */
    private static @Nullable CompletionStage<Route.Onward> elsewhere(
            Route route,
            StatefulRedisConnection<byte[], byte[]> connection,
            CompletionStage<?> told,
            int times,
            Duration patience) {
        try {
            var unused = told.toCompletableFuture().get(patience.toNanos(), TimeUnit.NANOSECONDS);
            return null;
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            return times < MOST_REDIRECTIONS && cause != null ? route.onward(connection, cause, times, 0) : null;
        } catch (TimeoutException e) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw RedisFailures.ofOpening(e, route.server());
        }
    }

    private static <T> T await(CompletionStage<T> answer, Route route, Duration patience) {
        try {
            return answer.toCompletableFuture().get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw RedisFailures.ofOpening(e, route.server());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw RedisFailures.ofOpening(e, route.server());
        }
    }
}
