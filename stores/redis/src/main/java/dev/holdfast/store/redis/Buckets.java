package dev.holdfast.store.redis;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.DamagedRecord;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Reply.ClaimReply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.redis.script.BucketLayout;
import dev.holdfast.store.redis.script.ScriptCall;
import dev.holdfast.store.redis.script.ScriptReply;
import dev.holdfast.store.redis.topology.Topology;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The buckets of a store, each with a pipeline that is created when first needed; and the operations on several
 * buckets. Thread-safe.
 */
final class Buckets {

    private static final Logger LOG = LoggerFactory.getLogger(Buckets.class);

    /** The maximum number of claims per polling call: bounds the time for which one call blocks the server. */
    private static final int LARGEST_POLL = 100;

    /**
     * How long a pipeline may be idle before it is dropped: by default longer than a session goes without a command.
     */
    private static final Duration IDLE = Duration.ofMinutes(1);

    private final Topology topology;
    private final BucketLayout layout;
    private final ReplicaAcknowledgement acknowledgement;
    private final Duration commandTimeout;
    private final IntFunction<CommandPipeline> maker;
    private final AtomicReferenceArray<@Nullable CommandPipeline> pipelines;
    private volatile boolean closed;

    Buckets(
            Topology topology,
            BucketLayout layout,
            ReplicaAcknowledgement acknowledgement,
            Duration commandTimeout,
            IntFunction<CommandPipeline> maker) {
        this.topology = topology;
        this.layout = layout;
        this.acknowledgement = acknowledgement;
        this.commandTimeout = commandTimeout;
        this.maker = maker;
        this.pipelines = new AtomicReferenceArray<>(layout.buckets());
    }

    // ---- Which bucket

    int count() {
        return pipelines.length();
    }

    int of(ResourceName name) {
        return layout.bucketOf(name);
    }

    /** The bucket of a command; the first if it concerns several. */
    int of(Command command) {
        if (command instanceof Command.OnResource onResource) {
            return of(onResource.resource());
        } else if (command instanceof Command.OpenSession open) {
            return open.partition();
        }
        return command instanceof Command.OnSession onSession ? layout.bucketOf(onSession.session()) : 0;
    }

    CommandPipeline pipeline(int bucket) {
        CommandPipeline pipeline = pipelines.get(bucket);
        if (pipeline == null) {
            CommandPipeline fresh = maker.apply(bucket);
            pipeline = pipelines.compareAndSet(bucket, null, fresh) ? fresh : pipelines.get(bucket);
            if (closed) {
                pipeline.close();
            }
        }
        return pipeline;
    }

    /** The successor of an abandoned pipeline. */
    CommandPipeline after(int bucket, CommandPipeline left) {
        pipelines.compareAndSet(bucket, left, null);
        return pipeline(bucket);
    }

    // ---- One bucket

    /** Ends a session with all its claims, in as many calls as that takes. */
    CompletionStage<Reply> close(Command.CloseSession command) {
        int bucket = of(command);
        return pipeline(bucket)
                .submit(ScriptCall.closeSession(command))
                .thenCompose(answer -> sweepAll(bucket, answer))
                .thenApply(answer -> answer.reply(command));
    }

    /** Sweeps until everything due has ended. */
    private CompletionStage<ScriptReply> sweepAll(int bucket, ScriptReply answer) {
        return answer.more()
                ? pipeline(bucket).submit(ScriptCall.sweep()).thenCompose(more -> sweepAll(bucket, more))
                : CompletableFuture.completedFuture(answer);
    }

    /** Ends the grant that has a token, in as many calls as finding it takes. */
    CompletionStage<Reply> force(Command.ForceRelease command) {
        return force(command, "");
    }

    private CompletionStage<Reply> force(Command.ForceRelease command, String after) {
        return pipeline(of(command))
                .submit(ScriptCall.force(command, after))
                .thenCompose(answer -> answer.rest()
                        .map(place -> force(command, place))
                        .orElseGet(() -> CompletableFuture.completedFuture(answer.reply(command))));
    }

    // ---- Several

    /** Polls each bucket for its claims. */
    CompletionStage<Reply> poll(Command.Poll poll) {
        List<ClaimRef> claims = poll.claims();
        Map<Integer, List<Integer>> places = new TreeMap<>();
        for (int i = 0; i < claims.size(); i++) {
            places.computeIfAbsent(of(claims.get(i).resource()), bucket -> new ArrayList<>())
                    .add(i);
        }
        @Nullable ClaimReply[] states = new ClaimReply[claims.size()];
        List<CompletableFuture<?>> all = new ArrayList<>();
        places.forEach((bucket, indexes) -> {
            for (int from = 0; from < indexes.size(); from += LARGEST_POLL) {
                List<Integer> partition = indexes.subList(from, Math.min(indexes.size(), from + LARGEST_POLL));
                List<ClaimRef> asked = partition.stream().map(claims::get).toList();
                all.add(acknowledgement
                        .poll(pipeline(bucket), asked)
                        .thenAccept(replies -> {
                            for (int i = 0; i < replies.size(); i++) {
                                states[partition.get(i)] = replies.get(i);
                            }
                        })
                        .toCompletableFuture());
            }
        });
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .thenApply(done -> new Reply.Polled(Arrays.asList(states)));
    }

    /** Inspects one name, or all buckets in turn. The cursor is a bucket and the cursor within it. */
    CompletionStage<Reply> inspect(Command.Inspect inspect) {
        if (inspect.scope() == Command.Inspect.Scope.NAME) {
            ResourceName name = new ResourceName(inspect.prefix());
            return pipeline(of(name))
                    .submit(ScriptCall.inspect(name, inspect.cursor().orElse(""), inspect.limit()))
                    .thenApply(answer ->
                            new Reply.Inspected(answer.info(name).stream().toList(), answer.rest()));
        }
        String cursor = inspect.cursor().orElse("0 0 ");
        int space = cursor.indexOf(' ');
        try {
            int bucket = Integer.parseInt(cursor.substring(0, Math.max(0, space)));
            if (bucket >= 0 && bucket < count()) {
                return inspect(inspect, bucket, cursor.substring(space + 1), List.of(), List.of());
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        return CompletableFuture.failedFuture(new IllegalArgumentException("Not a valid cursor: '" + cursor + "'"));
    }

    /** Continues with the next bucket until the page is full. */
    private CompletionStage<Reply> inspect(
            Command.Inspect inspect,
            int bucket,
            String within,
            List<ResourceInfo> before,
            List<DamagedRecord> damagedBefore) {
        StatefulRedisConnection<byte[], byte[]> connection =
                topology.route(bucket).current();
        if (connection == null) {
            return CompletableFuture.failedFuture(topology.route(bucket).missing());
        }
        CommandPipeline pipeline = pipeline(bucket);
        RedisInspection inspection = new RedisInspection(
                pipeline,
                connection,
                layout.keys(bucket)[BucketLayout.NAMES],
                topology.route(bucket).server(),
                commandTimeout,
                inspect,
                inspect.limit() - before.size() - damagedBefore.size(),
                within);
        return pipeline.submit(ScriptCall.sweep())
                .thenCompose(answer -> sweepAll(bucket, answer))
                .thenCompose(swept -> inspection.run())
                .thenCompose(page -> {
                    List<ResourceInfo> all = new ArrayList<>(before);
                    all.addAll(page.resources());
                    List<DamagedRecord> damaged = new ArrayList<>(damagedBefore);
                    damaged.addAll(page.damaged());
                    Optional<String> next = page.cursor().map(rest -> bucket + " " + rest);
                    if (next.isEmpty() && bucket + 1 < count()) {
                        if (all.size() + damaged.size() < Math.min(inspect.limit(), RedisInspection.LARGEST_PAGE)) {
                            return inspect(inspect, bucket + 1, "0 ", all, damaged);
                        }
                        next = Optional.of((bucket + 1) + " 0 ");
                    }
                    return CompletableFuture.completedFuture(new Reply.Inspected(all, damaged, next));
                });
    }

    // ---- All

    /** The number of buckets with a pipeline. */
    int used() {
        int used = 0;
        for (int bucket = 0; bucket < count(); bucket++) {
            used += pipelines.get(bucket) == null ? 0 : 1;
        }
        return used;
    }

    /** Times out overdue batches and drops idle pipelines. */
    void maintain() {
        maintain(IDLE);
    }

    /** As {@link #maintain()}, with another idle time. */
    void maintain(Duration idle) {
        for (int bucket = 0; bucket < count(); bucket++) {
            CommandPipeline pipeline = pipelines.get(bucket);
            if (pipeline != null) {
                try {
                    pipeline.endOverdue(commandTimeout);
                    if (count() > 1 && pipeline.abandonIfIdle(idle)) {
                        pipelines.compareAndSet(bucket, pipeline, null);
                    }
                } catch (RuntimeException | Error e) {
                    // If thrown, it would stop the periodic task.
                    LOG.error("bucket={} maintenance failed; it is retried", bucket, e);
                }
            }
        }
    }

    void close() {
        closed = true;
        for (int bucket = 0; bucket < count(); bucket++) {
            CommandPipeline pipeline = pipelines.get(bucket);
            if (pipeline != null) {
                pipeline.close();
            }
        }
    }
}
