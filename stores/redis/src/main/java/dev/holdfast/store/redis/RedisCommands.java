package dev.holdfast.store.redis;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.CommandHandler;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.spi.support.Stages;
import dev.holdfast.store.redis.connection.RedisFailures;
import dev.holdfast.store.redis.script.BucketLayout;
import dev.holdfast.store.redis.script.Micros;
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

/** Executor of commands, each by a call of the script, or by some of them. Thread-safe. */
final class RedisCommands implements CommandHandler<CompletionStage<Reply>, RuntimeException> {

    private static final Logger LOG = LoggerFactory.getLogger(RedisCommands.class);

    private static final int LARGEST_AUDIT = 500;

    /** How long a session that is there may wait until this client is told of what happens to it. */
    private static final Duration LONGEST_LISTENING = Duration.ofMillis(250);

    private final Topology topology;
    private final Buckets buckets;
    private final BucketLayout layout;
    private final ReplicaAcknowledgement acknowledgement;
    private final Replicas replicas;
    private final ServerMonitor watch;
    private final String client;
    private final Duration commandTimeout;

    RedisCommands(
            Topology topology,
            Buckets buckets,
            BucketLayout layout,
            ReplicaAcknowledgement acknowledgement,
            Replicas replicas,
            ServerMonitor watch,
            String client,
            Duration commandTimeout) {
        this.topology = topology;
        this.buckets = buckets;
        this.layout = layout;
        this.acknowledgement = acknowledgement;
        this.replicas = replicas;
        this.watch = watch;
        this.client = client;
        this.commandTimeout = commandTimeout;
    }

    /** Executes a command; a failure is a {@link StoreException}, and no wrapper of one. */
    CompletionStage<Reply> send(Command command) {
        CompletableFuture<Reply> told = new CompletableFuture<>();
        // A stage that depends on another would give that one's failure in a wrapper.
        command.accept(this).whenComplete((reply, failure) -> {
            if (failure == null) {
                told.complete(reply);
            } else {
                told.completeExceptionally(failed(command, failure));
            }
        });
        return told;
    }

    private StoreException failed(Command command, Throwable failure) {
        StoreException known = RedisFailures.ofTrip(failure, topology.name());
        Throwable cause = Stages.causeOf(failure);
        if (!(cause instanceof StoreException || cause instanceof RedisException)) {
            LOG.error("store={} what the server answered could not be taken", topology.name(), cause);
        }
        try {
            watch.refused(topology.route(buckets.of(command)), known);
        } catch (RuntimeException | Error e) {
            LOG.error("store={} could not be looked after", topology.name(), e);
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
        // The grant that is given up is gone, so the command is repeated.
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
        watch.audited(topology.route(buckets.of(command)));
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
        watch.opened(open.ttl());
        // What waits under it is to be told from the beginning; but a session without that is better than none.
        CompletableFuture<?> heard = topology.listen(open.partition())
                .toCompletableFuture()
                .thenApply(done -> "")
                .completeOnTimeout("", LONGEST_LISTENING.toNanos(), TimeUnit.NANOSECONDS);
        String nonce = layout.nonce(Randomness.nextLong(), open.partition());
        ScriptCall request =
                ScriptCall.openSession(open, Micros.of(RedisStore.MIN_TTL), nonce, topology.nameOf(client));
        return answered(open, request)
                .thenCombine(heard, (reply, done) -> reply)
                .whenComplete((reply, failure) -> {
                    if (failure != null) {
                        topology.ignore(open.partition());
                    }
                });
    }

    /** Sends it, and sees to it that the next one does not wait behind a silent connection. */
    @Override
    public CompletionStage<Reply> keepAlive(Command.KeepAlive keepAlive) {
        CompletionStage<Reply> answered = answered(keepAlive, ScriptCall.keepAlive(keepAlive));
        Duration patience = keepAlive.responseTimeout();
        if (patience.compareTo(commandTimeout) < 0) {
            CommandPipeline pipeline = buckets.pipeline(buckets.of(keepAlive));
            try {
                // What was on its way for half of that has kept the keep-alive waiting, or is the keep-alive.
                Future<?> look = topology.scheduler()
                        .schedule(
                                () -> pipeline.replaceSilent(patience.dividedBy(2)),
                                patience.toNanos(),
                                TimeUnit.NANOSECONDS);
                answered.whenComplete((reply, failure) -> look.cancel(false));
            } catch (RejectedExecutionException shuttingDown) {
                // Then nothing is renewed any more either.
            }
        }
        return answered;
    }

    private CompletionStage<Reply> answered(Command command, ScriptCall request) {
        return buckets.pipeline(buckets.of(command)).submit(request).thenApply(answer -> answer.reply(command));
    }
}
