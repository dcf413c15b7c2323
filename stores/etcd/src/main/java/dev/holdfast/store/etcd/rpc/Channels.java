package dev.holdfast.store.etcd.rpc;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The connections to the endpoints of a cluster, in random order, which spreads clients over the members. Requests use
 * one connection until it fails or is silent, then the next. A suspected endpoint gets a new connection before it is
 * used again. The first endpoint is used again once it answers.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class Channels implements AutoCloseable {

    /** An answer may contain a page of records, each of up to 1.5 MB. */
    private static final int MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final List<ManagedChannel> channels;

    /** Null if the channel was lent. */
    private final @Nullable EventLoop eventLoop;

    private final String name;
    private final AtomicInteger current = new AtomicInteger();

    private Channels(List<ManagedChannel> channels, @Nullable EventLoop eventLoop, String name) {
        this.channels = List.copyOf(channels);
        this.eventLoop = eventLoop;
        this.name = name;
    }

    /** Where a member listens. */
    public record Endpoint(String host, int port) {
        @Override
        public String toString() {
            return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
        }
    }

    /** A channel that the program lends; {@link #close} leaves it open. */
    public static Channels lent(ManagedChannel channel) {
        return new Channels(List.of(channel), null, "etcd at " + channel.authority());
    }

    /**
     * Creates channels on one thread. Each connects at its first use.
     *
     * @param tls null for plain connections
     * @param lookups resolves host names
     * @param seed determines the order of the endpoints
     */
    public static Channels to(
            List<Endpoint> endpoints, @Nullable SslContext tls, Duration connectTimeout, Executor lookups, long seed) {
        TrackedThreads factory = new TrackedThreads();
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, factory, NioIoHandler.newFactory());
        List<ManagedChannel> channels = new ArrayList<>();
        for (Endpoint endpoint : endpoints) {
            NettyChannelBuilder builder = NettyChannelBuilder.forAddress(endpoint.host(), endpoint.port())
                    .eventLoopGroup(group)
                    .channelType(NioSocketChannel.class)
                    .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(connectTimeout.toMillis()))
                    .directExecutor()
                    .offloadExecutor(lookups)
                    .maxInboundMessageSize(MAX_MESSAGE_BYTES)
                    // A request that was sent must not be repeated without the knowledge of the store.
                    .disableRetry();
            channels.add((tls == null ? builder.usePlaintext() : builder.sslContext(tls)).build());
        }
        Collections.shuffle(channels, new Random(seed));
        String addresses =
                String.join(",", endpoints.stream().map(Endpoint::toString).toList());
        return new Channels(channels, new EventLoop(group, factory), "etcd at " + addresses);
    }

    /** The endpoints, for messages. */
    public String name() {
        return name;
    }

    ManagedChannel current() {
        return channels.get(current.get());
    }

    /** The channel that this client prefers. */
    ManagedChannel first() {
        return channels.get(0);
    }

    void returnToFirst() {
        current.set(0);
    }

    /** Switches from a channel that failed or is silent to the next one, unless that has been done. */
    void suspect(ManagedChannel channel) {
        int suspected = channels.indexOf(channel);
        current.compareAndSet(suspected, (suspected + 1) % channels.size());
        // Calls in flight continue; later ones get a new connection without the back-off that follows failures.
        channel.enterIdle();
    }

    int size() {
        return channels.size();
    }

    /** Closes the channels unless they are lent, and waits for that, except on their own thread. */
    @Override
    public void close() {
        EventLoop own = eventLoop;
        if (own != null) {
            channels.forEach(ManagedChannel::shutdownNow);
            own.close();
        }
    }

    /** The thread of the connections. */
    private record EventLoop(EventLoopGroup group, TrackedThreads factory) {

        void close() {
            var unused = group.shutdownGracefully(0, CLOSE_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            try {
                for (Thread thread : factory.threads) {
                    if (thread != Thread.currentThread()) {
                        thread.join(CLOSE_TIMEOUT.toMillis());
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Remembers its threads so that {@link #close} can wait until they have ended. */
    private static final class TrackedThreads extends DefaultThreadFactory {
        private final List<Thread> threads = new CopyOnWriteArrayList<>();

        TrackedThreads() {
            super("holdfast-etcd", true);
        }

        @Override
        protected Thread newThread(Runnable task, String name) {
            Thread thread = super.newThread(task, name);
            threads.add(thread);
            return thread;
        }
    }
}
