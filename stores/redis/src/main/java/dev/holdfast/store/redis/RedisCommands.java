package dev.holdfast.store.redis;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.CommandHandler;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.spi.support.Stages;
import dev.holdfast.store.redis.connection.RedisFailures;
import dev.holdfast.store.redis.script.BucketLayout;
import dev.holdfast.store.redis.script.ScriptCall;
import dev.holdfast.store.redis.topology.Topology;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Executes commands, each by one or more calls of the script. Thread-safe. */
final class RedisCommands implements CommandHandler<CompletionStage<Reply>, RuntimeException> {

    private static final Logger LOG = LoggerFactory.getLogger(RedisCommands.class);

    private static final int LARGEST_AUDIT = 500;

    /** How long opening a session may wait for the subscription to its signals. */
    private static final Duration LONGEST_LISTENING = Duration.ofMillis(250);

    private final Topology topology;
    private final Buckets buckets;
    private final BucketLayout layout;
    private final ReplicaAcknowledgement acknowledgement;
    private final Replicas replicas;
    private final ServerMonitor monitor;
    private final String client;
    private final Duration commandTimeout;

    RedisCommands(
            Topology topology,
            Buckets buckets,
            BucketLayout layout,
            ReplicaAcknowledgement acknowledgement,
            Replicas replicas,
            ServerMonitor monitor,
            String client,
            Duration commandTimeout) {
        this.topology = topology;
        this.buckets = buckets;
        this.layout = layout;
        this.acknowledgement = acknowledgement;
        this.replicas = replicas;
        this.monitor = monitor;
        this.client = client;
        this.commandTimeout = commandTimeout;
    }

    /** Executes a command; a failure is a {@link StoreException}, not wrapped. */
    CompletionStage<Reply> send(Command command) {
        CompletableFuture<Reply> result = new CompletableFuture<>();
        // A dependent stage would wrap the failure.
        command.accept(this).whenComplete((reply, failure) -> {
            if (failure == null) {
                result.complete(reply);
            } else {
                result.completeExceptionally(failed(command, failure));
            }
        });
        return result;
    }

    private StoreException failed(Command command, Throwable failure) {
        StoreException known = RedisFailures.ofRequest(failure, topology.name());
        Throwable cause = Stages.causeOf(failure);
        if (!(cause instanceof StoreException || cause instanceof RedisException)) {
            LOG.error("store={} a reply of the server could not be processed", topology.name(), cause);
        }
        try {
            monitor.refused(topology.route(buckets.of(command)), known);
        } catch (RuntimeException | Error e) {
            LOG.error("store={} maintenance failed", topology.name(), e);
        }
        return known;
    }

    @Override
    public CompletionStage<Reply> acquire(Command.Acquire command) {
        return granted(
                command, ScriptCall.acquire(command, layout.slotDigits()), command.claim(), StoreException.Effect.NONE);
    }

    @Override
    public CompletionStage<Reply> yieldFor(Command.Yield command) {
        acknowledgement.forget(command.claim());
        // The yielded grant is already released, so the engine must repeat the command.
        return granted(
                command,
                ScriptCall.yieldFor(command, layout.slotDigits()),
                command.next().claim(),
                StoreException.Effect.UNKNOWN);
    }

    private CompletionStage<Reply> granted(
            Command command, ScriptCall call, ClaimRef claim, StoreException.Effect effect) {
        return acknowledgement.isWanted()
                ? acknowledgement.send(buckets.pipeline(buckets.of(command)), command, call, claim, effect)
                : answered(command, call);
    }

    @Override
    public CompletionStage<Reply> release(Command.Release command) {
        acknowledgement.forget(command.claim());
        return answered(command, ScriptCall.release(command, layout.slotDigits()));
    }

    @Override
    public CompletionStage<Reply> withdraw(Command.Withdraw command) {
        acknowledgement.forget(command.claim());
        return answered(command, ScriptCall.withdraw(command));
    }

    @Override
    public CompletionStage<Reply> poll(Command.Poll command) {
        return buckets.poll(command);
    }

    @Override
    public CompletionStage<Reply> advance(Command.Advance command) {
        return answered(command, ScriptCall.advance(command));
    }

    @Override
    public CompletionStage<Reply> shrinkTo(Command.ShrinkTo command) {
        return answered(command, ScriptCall.shrinkTo(command));
    }

    @Override
    public CompletionStage<Reply> extend(Command.Extend command) {
        return answered(command, ScriptCall.extend(command));
    }

    @Override
    public CompletionStage<Reply> annotate(Command.Annotate command) {
        return answered(command, ScriptCall.annotate(command));
    }

    @Override
    public CompletionStage<Reply> recordRun(Command.RecordRun command) {
        return answered(command, ScriptCall.recordRun(command));
    }

    @Override
    public CompletionStage<Reply> listRuns(Command.ListRuns command) {
        return answered(command, ScriptCall.listRuns(command));
    }

    @Override
    public CompletionStage<Reply> setCount(Command.SetCount command) {
        return answered(command, ScriptCall.setCount(command));
    }

    @Override
    public CompletionStage<Reply> countDown(Command.CountDown command) {
        return answered(command, ScriptCall.countDown(command));
    }

    @Override
    public CompletionStage<Reply> resize(Command.Resize command) {
        return answered(command, ScriptCall.resize(command));
    }

    @Override
    public CompletionStage<Reply> forceRelease(Command.ForceRelease command) {
        return buckets.force(command);
    }

    @Override
    public CompletionStage<Reply> retire(Command.Retire command) {
        return answered(command, ScriptCall.retire(command));
    }

    @Override
    public CompletionStage<Reply> closeSession(Command.CloseSession command) {
        acknowledgement.forget(command.session());
        return buckets.close(command).thenApply(reply -> {
            topology.ignore(buckets.of(command));
            return reply;
        });
    }

    @Override
    public CompletionStage<Reply> audit(Command.Audit command) {
        monitor.audited(topology.route(buckets.of(command)));
        return answered(command, ScriptCall.audit(command, LARGEST_AUDIT));
    }

    @Override
    public CompletionStage<Reply> inspect(Command.Inspect command) {
        return buckets.inspect(command);
    }

    @Override
    public CompletionStage<Reply> openSession(Command.OpenSession open) {
        if (open.partition() >= buckets.count()) {
            return CompletableFuture.failedFuture(
                    new IllegalArgumentException("There is no partition " + open.partition()));
        }
        if (!replicas.leaveTimeFor(open.ttl())) {
            return CompletableFuture.failedFuture(replicas.tooSlowFor(open.ttl()));
        }
        monitor.opened(open.ttl());
        // Claims of the session should get signals from the start; but a session without signals is better than none.
        CompletableFuture<?> subscribed = topology.listen(open.partition())
                .toCompletableFuture()
                .thenApply(done -> "")
                .completeOnTimeout("", LONGEST_LISTENING.toNanos(), TimeUnit.NANOSECONDS);
        String nonce = layout.nonce(Randomness.nextLong(), open.partition());
        ScriptCall request =
                ScriptCall.openSession(open, Micros.of(RedisStore.MIN_TTL), nonce, topology.nameOf(client));
        return answered(open, request)
                .thenCombine(subscribed, (reply, done) -> reply)
                .whenComplete((reply, failure) -> {
                    if (failure != null) {
                        topology.ignore(open.partition());
                    }
                });
    }

    /** Sends the keep-alive, and replaces a silent connection so that the next one doesn't wait behind it. */
    @Override
    public CompletionStage<Reply> keepAlive(Command.KeepAlive keepAlive) {
        CompletionStage<Reply> answered = answered(keepAlive, ScriptCall.keepAlive(keepAlive));
        Duration responseTimeout = keepAlive.responseTimeout();
        if (responseTimeout.compareTo(commandTimeout) < 0) {
            CommandPipeline pipeline = buckets.pipeline(buckets.of(keepAlive));
            try {
                // Any request in flight for half of that time delayed the keep-alive, or is the keep-alive.
                Future<?> replacement = topology.scheduler()
                        .schedule(
                                () -> pipeline.replaceSilent(responseTimeout.dividedBy(2)),
                                responseTimeout.toNanos(),
                                TimeUnit.NANOSECONDS);
                answered.whenComplete((reply, failure) -> replacement.cancel(false));
            } catch (RejectedExecutionException shuttingDown) {
                // The client is closing, so nothing is renewed any more.
            }
        }
        return answered;
    }

    private CompletionStage<Reply> answered(Command command, ScriptCall request) {
        return buckets.pipeline(buckets.of(command)).submit(request).thenApply(answer -> answer.reply(command));
    }
}
