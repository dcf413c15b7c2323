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
 * The buckets of a store, each with a pipeline of its own that is made when it is first needed; and what concerns
 * several of them. Thread-safe.
 */
final class Buckets {

    private static final Logger LOG = LoggerFactory.getLogger(Buckets.class);

    /** More claims than that are polled in several calls: bounds the time for which one call keeps the server. */
    private static final int LARGEST_POLL = 100;

    /**
     * After so long without a command a pipeline is dropped: longer than a session of the engine goes without one by
     * default.
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

    /** The bucket of a command; of one that concerns several, the first. */
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

    /** The pipeline of a bucket when one has been left. */
    CommandPipeline after(int bucket, CommandPipeline left) {
        pipelines.compareAndSet(bucket, left, null);
        return pipeline(bucket);
    }

    // ---- One bucket

    /** Ends a session with all that it has, though one call ends a part of it only. */
    CompletionStage<Reply> close(Command.CloseSession command) {
        int bucket = of(command);
        return pipeline(bucket)
                .submit(ScriptCall.closeSession(command))
                .thenCompose(answer -> swept(bucket, answer))
                .thenApply(answer -> answer.reply(command));
    }

    /** Waits until everything has been ended whose time has come: one call ends a part of it. */
    private CompletionStage<ScriptReply> swept(int bucket, ScriptReply answer) {
        return answer.more()
                ? pipeline(bucket).submit(ScriptCall.sweep()).thenCompose(more -> swept(bucket, more))
                : CompletableFuture.completedFuture(answer);
    }

    /** Ends the grant that has a token, wherever it is among the others. */
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

    /** Asks each bucket about its own claims. */
    CompletionStage<Reply> poll(Command.Poll poll) {
        List<ClaimRef> claims = poll.claims();
        Map<Integer, List<Integer>> places = new TreeMap<>();
        for (int i = 0; i < claims.size(); i++) {
            places.computeIfAbsent(of(claims.get(i).resource()), bucket -> new ArrayList<>())
                    .add(i);
        }
        @Nullable ClaimReply[] states = new ClaimReply[claims.size()];
        List<CompletableFuture<?>> all = new ArrayList<>();
        places.forEach((bucket, its) -> {
            for (int from = 0; from < its.size(); from += LARGEST_POLL) {
                List<Integer> partition = its.subList(from, Math.min(its.size(), from + LARGEST_POLL));
                List<ClaimRef> asked = partition.stream().map(claims::get).toList();
                all.add(acknowledgement
                        .poll(pipeline(bucket), asked)
                        .thenAccept(told -> {
                            for (int i = 0; i < told.size(); i++) {
                                states[partition.get(i)] = told.get(i);
                            }
                        })
                        .toCompletableFuture());
            }
        });
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .thenApply(done -> new Reply.Polled(Arrays.asList(states)));
    }

    /**
     * Looks at one name, or goes through the buckets. The cursor of the store is a bucket and the cursor within that.
     */
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
            // Told below.
        }
        return CompletableFuture.failedFuture(new IllegalArgumentException("Not a cursor: '" + cursor + "'"));
    }

    /** Goes on from bucket to bucket until the page is full. */
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
                .thenCompose(answer -> swept(bucket, answer))
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

    /** How many buckets have a pipeline at present. */
    int used() {
        int used = 0;
        for (int bucket = 0; bucket < count(); bucket++) {
            used += pipelines.get(bucket) == null ? 0 : 1;
        }
        return used;
    }

    /** Ends trips that take too long, and drops pipelines that nobody uses any more. */
    void lookAround() {
        lookAround(IDLE);
    }

    /** As {@link #lookAround()}, with another time after which nobody uses a pipeline any more. */
    void lookAround(Duration idle) {
        for (int bucket = 0; bucket < count(); bucket++) {
            CommandPipeline pipeline = pipelines.get(bucket);
            if (pipeline != null) {
                try {
                    pipeline.endOverdue(commandTimeout);
                    if (count() > 1 && pipeline.leaveIfIdle(idle)) {
                        pipelines.compareAndSet(bucket, pipeline, null);
                    }
                } catch (RuntimeException | Error e) {
                    // Thrown, it would end the looks for good.
                    LOG.error("bucket={} could not be looked after; it is tried again", bucket, e);
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
