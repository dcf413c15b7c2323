package dev.holdfast.store.etcd.rpc;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.support.Stages;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A client of etcd with the calls that locks need. It sends each call once, with two exceptions: a call rejected for
 * its token is retried with a new token, and a revocation is retried. Its stages fail with a {@link StoreException}.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; none blocks but {@link #close}.
 */
public final class EtcdClient implements AutoCloseable {

    /** The most attempts to revoke a lease. */
    private static final int MAX_REVOCATIONS = 3;

    private final Channels channels;
    private final Login login;
    private final Duration timeout;

    /** The cluster that answered first; 0 before that. */
    private final AtomicLong cluster = new AtomicLong();

    /** The highest revision in an answer so far. */
    private final AtomicLong revision = new AtomicLong();

    /** Completes when another cluster answers, or this one with older data than before. */
    private final CompletableFuture<Void> replaced = new CompletableFuture<>();

    /** The channel of the latest answer since {@link #hasAnswered}; null if there was none. */
    private volatile @Nullable ManagedChannel lastAnsweredBy;

    private volatile boolean isClosed;

    /** Creates a client, which connects at its first call. */
    public EtcdClient(Channels channels, Login login, Duration timeout) {
        this.channels = channels;
        this.login = login;
        this.timeout = timeout;
    }

    /** The endpoints, for messages. */
    public String name() {
        return channels.name();
    }

    /** The number of endpoints. */
    public int endpointCount() {
        return channels.size();
    }

    /** How long a call waits for its answer. */
    public Duration timeout() {
        return timeout;
    }

    /** Reads keys; the read is linearizable. */
    public CompletionStage<RangeResponse> range(Range range) {
        return linearizable(EtcdMethods.RANGE, range.message(), RangeResponse::of, RangeResponse::header);
    }

    /** Whether requests go to the preferred member. */
    public boolean usesFirstMember() {
        return channels.current() == channels.first();
    }

    /** Uses the preferred member again if it answers. */
    public CompletionStage<Void> returnToFirstMember(Range probe) {
        return linearizable(
                        channels.first(), EtcdMethods.RANGE, probe.message(), RangeResponse::of, RangeResponse::header)
                .thenRun(channels::returnToFirst);
    }

    /** Runs a transaction. */
    public CompletionStage<TxnResponse> run(Transaction transaction) {
        return linearizable(EtcdMethods.TXN, transaction.message(), TxnResponse::of, TxnResponse::header);
    }

    /** Grants a lease. */
    public CompletionStage<LeaseResponse> grant(long seconds) {
        return linearizable(
                EtcdMethods.GRANT, new MessageWriter().number(1, seconds), LeaseResponse::of, LeaseResponse::header);
    }

    /**
     * Makes a linearizable call. The revision in its answer is no lower than in earlier answers, from any member,
     * unless the cluster has lost data.
     */
    private <T> CompletionStage<T> linearizable(
            MethodDescriptor<byte[], byte[]> method,
            MessageWriter request,
            Function<MessageReader, T> parser,
            Function<T, ResponseHeader> header) {
        return linearizable(channels.current(), method, request, parser, header);
    }

    private <T> CompletionStage<T> linearizable(
            ManagedChannel channel,
            MethodDescriptor<byte[], byte[]> method,
            MessageWriter request,
            Function<MessageReader, T> parser,
            Function<T, ResponseHeader> header) {
        long seen = revision.get();
        return call(channel, method, request.toBytes(), timeout, answer -> {
            T read = parser.apply(new MessageReader(answer));
            check(header.apply(read), seen);
            return read;
        });
    }

    private void check(ResponseHeader header, long seen) {
        boolean isSame = cluster.compareAndSet(0, header.cluster()) || cluster.get() == header.cluster();
        if (!isSame || header.revision() < seen) {
            replaced.complete(null);
        }
        if (isReplaced()) {
            throw EtcdFailures.replaced(name(), Effect.UNKNOWN);
        }
        revision.accumulateAndGet(header.revision(), Math::max);
    }

    /**
     * Whether another cluster has answered, or this one with older data than before. Every later call is then rejected,
     * because new tokens may be lower than those already granted.
     */
    public boolean isReplaced() {
        return replaced.isDone();
    }

    /** Runs an action once, as soon as {@link #isReplaced} holds and before the call that noticed it fails. */
    public void whenReplaced(Runnable action) {
        var unused = replaced.thenRun(action);
    }

    /** Renews a lease for its whole ttl. */
    public CompletionStage<LeaseResponse> renew(long lease) {
        return call(EtcdMethods.KEEP_ALIVE, leaseRequest(lease), answer -> LeaseResponse.of(new MessageReader(answer)));
    }

    /** Queries the remaining time of a lease. */
    public CompletionStage<LeaseResponse> timeToLive(long lease) {
        return call(
                EtcdMethods.TIME_TO_LIVE, leaseRequest(lease), answer -> LeaseResponse.of(new MessageReader(answer)));
    }

    /**
     * Revokes a lease with all its keys; idempotent. A call without an answer is retried: revoking twice does no harm,
     * and a lost call would leave the keys for a ttl.
     */
    public CompletionStage<Void> revoke(long lease) {
        return revoke(lease, MAX_REVOCATIONS);
    }

    private CompletionStage<Void> revoke(long lease, int attempts) {
        return call(EtcdMethods.REVOKE, leaseRequest(lease), answer -> answer)
                .handle((answer, failure) -> Optional.ofNullable(failure).map(Stages::causeOf))
                .thenCompose(failure -> {
                    if (failure.isEmpty() || EtcdFailures.isLeaseMissing(failure.get())) {
                        return CompletableFuture.completedFuture(null);
                    }
                    return attempts > 1 && EtcdFailures.isUnavailable(failure.get())
                            ? revoke(lease, attempts - 1)
                            : CompletableFuture.failedFuture(failure.get());
                });
    }

    private static byte[] leaseRequest(long lease) {
        return new MessageWriter().number(1, lease).toBytes();
    }

    /**
     * The version of the server.
     *
     * @param timeout includes the time to connect
     */
    public CompletionStage<String> version(Duration timeout) {
        return call(channels.current(), EtcdMethods.STATUS, new byte[0], timeout, answer -> {
            MessageReader message = new MessageReader(answer);
            for (int field = message.next(); field != 0; field = message.next()) {
                if (field == 2) {
                    return new String(message.bytes(), StandardCharsets.UTF_8);
                }
            }
            return "";
        });
    }

    /** Opens a watch stream. */
    public CompletionStage<WatchStream> openWatchStream(WatchStream.Listener listener) {
        CompletableFuture<WatchStream> opened = new CompletableFuture<>();
        ManagedChannel channel = channels.current();
        var unused = token(channel, null).whenComplete((token, failure) -> {
            if (isClosed) {
                opened.completeExceptionally(EtcdFailures.closed(Effect.NONE));
            } else if (failure != null) {
                opened.completeExceptionally(translated(failure, channel));
            } else {
                opened.complete(WatchStream.open(channel, token, listener));
            }
        });
        return opened;
    }

    /** Switches to another member if requests still use a silent stream's member. */
    public void suspect(WatchStream stream) {
        channels.suspect(stream.channel());
    }

    /** Whether requests go to a stream's member. */
    public boolean isCurrent(WatchStream stream) {
        return stream.channel() == channels.current();
    }

    /** Whether a request on a stream's connection was answered since the last call of this method. */
    public boolean hasAnswered(WatchStream stream) {
        ManagedChannel last = lastAnsweredBy;
        lastAnsweredBy = null;
        return last == stream.channel();
    }

    /** The present connection, for {@link #suspect(Connection)}. */
    public Connection connection() {
        return new Connection(channels.current());
    }

    /** A connection that may turn out to be silent. */
    public record Connection(ManagedChannel channel) {}

    /** Switches to another member if requests still use this connection. */
    public void suspect(Connection connection) {
        channels.suspect(connection.channel());
    }

    /** Requests a new token, because that of a stream may be the reason why it was rejected. */
    public void renewToken(WatchStream stream) {
        var unused = token(channels.current(), stream.token());
    }

    private CompletableFuture<String> token(ManagedChannel channel, @Nullable String refused) {
        return login.token(
                refused, request -> UnaryCall.start(channel, EtcdMethods.AUTHENTICATE, request, Login.NONE, timeout));
    }

    private <T> CompletionStage<T> call(
            MethodDescriptor<byte[], byte[]> method, byte[] request, Function<byte[], T> parser) {
        return call(channels.current(), method, request, timeout, parser);
    }

    private <T> CompletionStage<T> call(
            ManagedChannel channel,
            MethodDescriptor<byte[], byte[]> method,
            byte[] request,
            Duration timeout,
            Function<byte[], T> parser) {
        CompletableFuture<T> result = new CompletableFuture<>();
        if (isClosed) {
            result.completeExceptionally(EtcdFailures.closed(Effect.NONE));
            return result;
        }
        if (isReplaced()) {
            result.completeExceptionally(EtcdFailures.replaced(name(), Effect.NONE));
            return result;
        }
        var unused = attempt(channel, method, request, timeout).whenComplete((answer, failure) -> {
            if (failure != null) {
                result.completeExceptionally(translated(failure, channel));
                return;
            }
            lastAnsweredBy = channel;
            try {
                result.complete(parser.apply(answer));
            } catch (StoreException known) {
                result.completeExceptionally(known);
            } catch (RuntimeException e) {
                result.completeExceptionally(EtcdFailures.malformedAnswer(name(), e));
            }
        });
        return result;
    }

    private CompletionStage<byte[]> attempt(
            ManagedChannel channel, MethodDescriptor<byte[], byte[]> method, byte[] request, Duration timeout) {
        return token(channel, null).thenCompose(token -> {
            CompletableFuture<byte[]> first = UnaryCall.start(channel, method, request, token, timeout);
            return first.handle((answer, failure) -> failure != null
                            && Stages.causeOf(failure) instanceof CallFailure known
                            && EtcdFailures.isTokenInvalid(known))
                    .thenCompose(isTokenStale -> isTokenStale
                            ? token(channel, token)
                                    .thenCompose(next -> UnaryCall.start(channel, method, request, next, timeout))
                            : first);
        });
    }

    private StoreException translated(Throwable failure, ManagedChannel channel) {
        Throwable cause = Stages.causeOf(failure);
        if (cause instanceof StoreException known) {
            return known;
        } else if (cause instanceof CallFailure known) {
            if (isClosed) {
                return EtcdFailures.closed(known.wasSent() ? Effect.UNKNOWN : Effect.NONE);
            }
            if (EtcdFailures.isConnectionFailure(known)) {
                channels.suspect(channel);
            }
            return EtcdFailures.of(known, name());
        }
        return new StoreException(
                StoreException.Reason.UNAVAILABLE,
                Effect.UNKNOWN,
                "a request to " + name() + " failed: " + cause,
                cause);
    }

    @Override
    public void close() {
        isClosed = true;
        channels.close();
    }
}
