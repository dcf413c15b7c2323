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
 * The connections to the endpoints of a cluster, in an order that each client draws, so that clients are spread over
 * the members. One is used at a time, so that requests go to one member, until it is suspected: then the next one is,
 * and the suspect gets a new connection when its turn comes again. The first is used again once it answers.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class Channels implements AutoCloseable {

    /** An answer may hold as many records as a page, each of up to 1.5 MB. */
    private static final int LARGEST_ANSWER = 256 * 1024 * 1024;

    private static final Duration LONGEST_END = Duration.ofSeconds(10);

    private final List<ManagedChannel> channels;

    /** Null if the channel was lent. */
    private final @Nullable Threads threads;

    private final String name;
    private final AtomicInteger current = new AtomicInteger();

    private Channels(List<ManagedChannel> channels, @Nullable Threads threads, String name) {
        this.channels = List.copyOf(channels);
        this.threads = threads;
        this.name = name;
    }

    /** Where a member listens. */
    public record Endpoint(String host, int port) {
        @Override
        public String toString() {
            return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
        }
    }

    /** A channel of the program's, which is not closed with these. */
    public static Channels lent(ManagedChannel channel) {
        return new Channels(List.of(channel), null, "etcd at " + channel.authority());
    }

    /**
     * Connections of our own, on one thread. None is made before it is used.
     *
     * @param tls null for plain connections
     * @param lookups where names of hosts are looked up
     * @param draw what the order follows
     */
    public static Channels to(
            List<Endpoint> endpoints, @Nullable SslContext tls, Duration connectTimeout, Executor lookups, long draw) {
        CountedThreads factory = new CountedThreads();
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, factory, NioIoHandler.newFactory());
        List<ManagedChannel> channels = new ArrayList<>();
        for (Endpoint endpoint : endpoints) {
            NettyChannelBuilder builder = NettyChannelBuilder.forAddress(endpoint.host(), endpoint.port())
                    .eventLoopGroup(group)
                    .channelType(NioSocketChannel.class)
                    .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(connectTimeout.toMillis()))
                    .directExecutor()
                    .offloadExecutor(lookups)
                    .maxInboundMessageSize(LARGEST_ANSWER)
                    // What was sent must not be sent again without our knowledge.
                    .disableRetry();
            channels.add((tls == null ? builder.usePlaintext() : builder.sslContext(tls)).build());
        }
        Collections.shuffle(channels, new Random(draw));
        String places =
                String.join(",", endpoints.stream().map(Endpoint::toString).toList());
        return new Channels(channels, new Threads(group, factory), "etcd at " + places);
    }

    /** What these connect to, for people. */
    public String name() {
        return name;
    }

    ManagedChannel current() {
        return channels.get(current.get());
    }

    /** The one that this client uses while it answers. */
    ManagedChannel first() {
        return channels.get(0);
    }

    void returnToFirst() {
        current.set(0);
    }

    /** Turns from a channel that failed or is silent to the next, unless that was done already. */
    void suspect(ManagedChannel channel) {
        int suspected = channels.indexOf(channel);
        current.compareAndSet(suspected, (suspected + 1) % channels.size());
        // What is under way goes on; what comes next gets a new connection, without the pause that follows failures.
        channel.enterIdle();
    }

    int size() {
        return channels.size();
    }

    /** Closes what is ours, and waits until it is closed, unless called by its own thread. */
    @Override
    public void close() {
        Threads own = threads;
        if (own != null) {
            channels.forEach(ManagedChannel::shutdownNow);
            own.end();
        }
    }

    /** The one thread of our connections. */
    private record Threads(EventLoopGroup group, CountedThreads factory) {

        void end() {
            var unused = group.shutdownGracefully(0, LONGEST_END.toSeconds(), TimeUnit.SECONDS);
            try {
                for (Thread thread : factory.made) {
                    if (thread != Thread.currentThread()) {
                        thread.join(LONGEST_END.toMillis());
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Makes threads, and remembers them, so that their ends can be waited for. */
    private static final class CountedThreads extends DefaultThreadFactory {
        private final List<Thread> made = new CopyOnWriteArrayList<>();

        CountedThreads() {
            super("holdfast-etcd", true);
        }

        @Override
        protected Thread newThread(Runnable task, String name) {
            Thread thread = super.newThread(task, name);
            made.add(thread);
            return thread;
        }
    }
}
