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
 * A client of etcd for what locks need. Each call is sent once; only what was refused for the sake of its token is
 * sent again, with a new one, and so is the end of a lease. What comes out of it fails with a {@link StoreException}.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; none blocks but {@link #close}.
 */
public final class EtcdClient implements AutoCloseable {

    /** How often the end of a lease is asked for at most. */
    private static final int REVOCATIONS = 3;

    private final Channels channels;
    private final Login login;
    private final Duration timeout;

    /** The cluster that answered first; 0 before that. */
    private final AtomicLong cluster = new AtomicLong();

    /** The highest revision in an answer so far. */
    private final AtomicLong revision = new AtomicLong();

    /** Done when another cluster answers, or this one with data that are older than they were. */
    private final CompletableFuture<Void> replaced = new CompletableFuture<>();

    /** Where the latest answer came from, since {@link #hasAnswered}; null if there was none. */
    private volatile @Nullable ManagedChannel answered;

    private volatile boolean isClosed;

    /** A client that asks for nothing yet. */
    public EtcdClient(Channels channels, Login login, Duration timeout) {
        this.channels = channels;
        this.login = login;
        this.timeout = timeout;
    }

    /** What this is connected to, for people. */
    public String name() {
        return channels.name();
    }

    /** How many endpoints there are to turn to. */
    public int endpoints() {
        return channels.size();
    }

    /** How long a call waits for its answer. */
    public Duration timeout() {
        return timeout;
    }

    /** Reads keys, as they are after all writes that were acknowledged before. */
    public CompletionStage<RangeAnswer> range(Range range) {
        return linearizable(EtcdMethods.RANGE, range.message(), RangeAnswer::of, RangeAnswer::header);
    }

    /** Whether the member is used that this client has chosen, rather than another one in its place. */
    public boolean usesFirstMember() {
        return channels.current() == channels.first();
    }

    /** Uses the member again that this client has chosen, if that answers. */
    public CompletionStage<Void> returnToFirstMember(Range probe) {
        return linearizable(channels.first(), EtcdMethods.RANGE, probe.message(), RangeAnswer::of, RangeAnswer::header)
                .thenRun(channels::returnToFirst);
    }

    /** Runs a transaction. */
    public CompletionStage<TxnAnswer> run(Transaction transaction) {
        return linearizable(EtcdMethods.TXN, transaction.message(), TxnAnswer::of, TxnAnswer::header);
    }

    /** Makes a lease. */
    public CompletionStage<LeaseAnswer> grant(long seconds) {
        return linearizable(
                EtcdMethods.GRANT, new MessageWriter().number(1, seconds), LeaseAnswer::of, LeaseAnswer::header);
    }

    /**
     * Makes a call that the consensus orders after all that were answered before: the revision in its answer is no
     * lower than in theirs, whichever member it comes from, unless the cluster has lost data.
     */
    private <T> CompletionStage<T> linearizable(
            MethodDescriptor<byte[], byte[]> method,
            MessageWriter request,
            Function<MessageReader, T> reading,
            Function<T, Header> header) {
        return linearizable(channels.current(), method, request, reading, header);
    }

    private <T> CompletionStage<T> linearizable(
            ManagedChannel channel,
            MethodDescriptor<byte[], byte[]> method,
            MessageWriter request,
            Function<MessageReader, T> reading,
            Function<T, Header> header) {
        long seen = revision.get();
        return call(channel, method, request.toBytes(), timeout, answer -> {
            T read = reading.apply(new MessageReader(answer));
            check(header.apply(read), seen);
            return read;
        });
    }

    private void check(Header header, long seen) {
        boolean isSame = cluster.compareAndSet(0, header.cluster()) || cluster.get() == header.cluster();
        if (!isSame || header.revision() < seen) {
            replaced.complete(null);
        }
        if (isReplaced()) {
            throw Failures.replaced(name(), Effect.UNKNOWN);
        }
        revision.accumulateAndGet(header.revision(), Math::max);
    }

    /**
     * Whether another cluster has answered, or this one with data that are older than they were: nothing is asked any
     * more then, since its tokens may be lower than those that were given out.
     */
    public boolean isReplaced() {
        return replaced.isDone();
    }

    /** Has something done once as soon as {@link #isReplaced}, before whoever asked is told. */
    public void whenReplaced(Runnable what) {
        var unused = replaced.thenRun(what);
    }

    /** Gives a lease its whole time again. */
    public CompletionStage<LeaseAnswer> renew(long lease) {
        return call(EtcdMethods.KEEP_ALIVE, ofLease(lease), answer -> LeaseAnswer.of(new MessageReader(answer)));
    }

    /** Asks what is left of a lease. */
    public CompletionStage<LeaseAnswer> left(long lease) {
        return call(EtcdMethods.LEFT, ofLease(lease), answer -> LeaseAnswer.of(new MessageReader(answer)));
    }

    /**
     * Ends a lease with all its keys, if it has not ended yet. That is asked again if no answer comes: an end is final,
     * and what is lost would stand for a ttl.
     */
    public CompletionStage<Void> revoke(long lease) {
        return revoke(lease, REVOCATIONS);
    }

    private CompletionStage<Void> revoke(long lease, int attempts) {
        return call(EtcdMethods.REVOKE, ofLease(lease), answer -> answer)
                .handle((answer, failure) -> Optional.ofNullable(failure).map(Stages::causeOf))
                .thenCompose(failure -> {
                    if (failure.isEmpty() || Failures.isLeaseMissing(failure.get())) {
                        return CompletableFuture.completedFuture(null);
                    }
                    return attempts > 1 && Failures.isUnavailable(failure.get())
                            ? revoke(lease, attempts - 1)
                            : CompletableFuture.failedFuture(failure.get());
                });
    }

    private static byte[] ofLease(long lease) {
        return new MessageWriter().number(1, lease).toBytes();
    }

    /**
     * The version of the server that answers.
     *
     * @param timeout how long to wait for it, since it may have to be connected to first
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

    /** Opens a stream of watches. */
    public CompletionStage<WatchStream> watch(WatchStream.Listener listener) {
        CompletableFuture<WatchStream> opened = new CompletableFuture<>();
        ManagedChannel channel = channels.current();
        var unused = token(channel, null).whenComplete((token, failure) -> {
            if (isClosed) {
                opened.completeExceptionally(Failures.closed(Effect.NONE));
            } else if (failure != null) {
                opened.completeExceptionally(understood(failure, channel));
            } else {
                opened.complete(WatchStream.open(channel, token, listener));
            }
        });
        return opened;
    }

    /** Turns from the member that a stream is connected to, since it is silent. */
    public void suspect(WatchStream stream) {
        channels.suspect(stream.channel());
    }

    /** Whether requests go to the member that a stream is connected to. */
    public boolean isCurrent(WatchStream stream) {
        return stream.channel() == channels.current();
    }

    /** Whether a request through the connection of a stream was answered since the last call of this method. */
    public boolean hasAnswered(WatchStream stream) {
        ManagedChannel last = answered;
        answered = null;
        return last == stream.channel();
    }

    /** Which connection is used at present, for {@link #suspect(Connection)}. */
    public Connection connection() {
        return new Connection(channels.current());
    }

    /** A connection that may turn out to be silent. */
    public record Connection(ManagedChannel channel) {}

    /** Turns from a connection, if it is the present one. */
    public void suspect(Connection connection) {
        channels.suspect(connection.channel());
    }

    /** The token that a stream was opened with may be the reason why it was refused. */
    public void renewToken(WatchStream stream) {
        var unused = token(channels.current(), stream.token());
    }

    private CompletableFuture<String> token(ManagedChannel channel, @Nullable String refused) {
        return login.token(
                refused, request -> Call.start(channel, EtcdMethods.AUTHENTICATE, request, Login.NONE, timeout));
    }

    private <T> CompletionStage<T> call(
            MethodDescriptor<byte[], byte[]> method, byte[] request, Function<byte[], T> reading) {
        return call(channels.current(), method, request, timeout, reading);
    }

    private <T> CompletionStage<T> call(
            ManagedChannel channel,
            MethodDescriptor<byte[], byte[]> method,
            byte[] request,
            Duration timeout,
            Function<byte[], T> reading) {
        CompletableFuture<T> result = new CompletableFuture<>();
        if (isClosed) {
            result.completeExceptionally(Failures.closed(Effect.NONE));
            return result;
        }
        if (isReplaced()) {
            result.completeExceptionally(Failures.replaced(name(), Effect.NONE));
            return result;
        }
        var unused = attempt(channel, method, request, timeout).whenComplete((answer, failure) -> {
            if (failure != null) {
                result.completeExceptionally(understood(failure, channel));
                return;
            }
            answered = channel;
            try {
                result.complete(reading.apply(answer));
            } catch (StoreException known) {
                result.completeExceptionally(known);
            } catch (RuntimeException e) {
                result.completeExceptionally(Failures.nonsense(name(), e));
            }
        });
        return result;
    }

    private CompletionStage<byte[]> attempt(
            ManagedChannel channel, MethodDescriptor<byte[], byte[]> method, byte[] request, Duration timeout) {
        return token(channel, null).thenCompose(token -> {
            CompletableFuture<byte[]> first = Call.start(channel, method, request, token, timeout);
            return first.handle((answer, failure) -> failure != null
                            && Stages.causeOf(failure) instanceof CallFailure known
                            && Failures.isOfToken(known))
                    .thenCompose(isTokenStale -> isTokenStale
                            ? token(channel, token)
                                    .thenCompose(next -> Call.start(channel, method, request, next, timeout))
                            : first);
        });
    }

    private StoreException understood(Throwable failure, ManagedChannel channel) {
        Throwable cause = Stages.causeOf(failure);
        if (cause instanceof StoreException known) {
            return known;
        } else if (cause instanceof CallFailure known) {
            if (isClosed) {
                return Failures.closed(known.wasSent() ? Effect.UNKNOWN : Effect.NONE);
            }
            if (Failures.isOfConnection(known)) {
                channels.suspect(channel);
            }
            return Failures.of(known, name());
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
