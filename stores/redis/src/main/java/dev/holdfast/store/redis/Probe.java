package dev.holdfast.store.redis;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What is tried out on a bucket before it is used. */
final class Probe {

    private Probe() {}

    /** Tells the server the script, and has it do all that a step may do; throws if that is not permitted or something else is in the place. */
    static void run(Way way, Script script, KeyLayout layout, int bucket, Replicas replicas, Duration patience) {
        StatefulRedisConnection<byte[], byte[]> connection = way.current();
        if (connection == null) {
            throw way.missing();
        }
        List<byte[]> arguments = new ArrayList<>(List.of(layout.header(bucket)));
        arguments.addAll(Request.probe().arguments());
        List<Object> answers = await(
                connection
                        .async()
                        .<List<Object>>eval(
                                script.text(),
                                ScriptOutputType.MULTI,
                                layout.keys(bucket),
                                arguments.toArray(byte[][]::new)),
                way,
                patience);
        if (replicas.areAsked()) {
            // Not for long, and whatever the answer is: only whether it may be asked.
            var unused = await(connection.async().waitForReplication(0, 1), way, patience);
        }
        List<Answer> all = Answer.read(answers, 1, 0);
        if (all.isEmpty()) {
            throw Failures.nonsense(way.server());
        }
        Answer answer = all.get(0);
        if (answer.isFailure()) {
            throw Failures.ofStep(answer, way.server());
        }
    }

    private static <T> T await(CompletionStage<T> answer, Way way, Duration patience) {
        try {
            return answer.toCompletableFuture().get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw Failures.ofOpening(e, way.server());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failures.ofOpening(e, way.server());
        }
    }
}
