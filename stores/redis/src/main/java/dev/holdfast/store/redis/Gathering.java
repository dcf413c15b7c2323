package dev.holdfast.store.redis;

import io.lettuce.core.event.EventBus;
import io.lettuce.core.event.EventPublisherOptions;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.resource.SocketAddressResolver;
import io.lettuce.core.tracing.Tracing;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.Timer;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/*
 * The driver hands each command to the thread of its connection and has it written at once. Of many that are handed over
 * while that thread is busy, or that follow from the answers of one read, each would be a packet and a call of the system
 * of its own. Here what is written leaves when the thread has nothing else to write, or has heard all answers that were there.
 */

/** The threads and settings of a program, for connections on which commands that are sent at about the same time leave together. */
record Gathering(ClientResources theirs) implements ClientResources, NettyCustomizer {

    /** So many leave at the latest. */
    private static final int MOST = 256;

    @Override
    public void afterBootstrapInitialized(Bootstrap bootstrap) {
        theirs.nettyCustomizer().afterBootstrapInitialized(bootstrap);
    }

    @Override
    public void afterChannelInitialized(Channel channel) {
        channel.pipeline().addFirst(new FlushConsolidationHandler(MOST, true));
        theirs.nettyCustomizer().afterChannelInitialized(channel);
    }

    @Override
    public NettyCustomizer nettyCustomizer() {
        return this;
    }

    // ---- All else is theirs

    @Override
    public Builder mutate() {
        return theirs.mutate();
    }

    @Override
    public Future<Boolean> shutdown() {
        return theirs.shutdown();
    }

    @Override
    public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit timeUnit) {
        return theirs.shutdown(quietPeriod, timeout, timeUnit);
    }

    @Override
    public AddressResolverGroup<?> addressResolverGroup() {
        return theirs.addressResolverGroup();
    }

    @Override
    public EventPublisherOptions commandLatencyPublisherOptions() {
        return theirs.commandLatencyPublisherOptions();
    }

    @Override
    public CommandLatencyRecorder commandLatencyRecorder() {
        return theirs.commandLatencyRecorder();
    }

    @Override
    public int computationThreadPoolSize() {
        return theirs.computationThreadPoolSize();
    }

    @Override
    public EventBus eventBus() {
        return theirs.eventBus();
    }

    @Override
    public EventLoopGroupProvider eventLoopGroupProvider() {
        return theirs.eventLoopGroupProvider();
    }

    @Override
    public EventExecutorGroup eventExecutorGroup() {
        return theirs.eventExecutorGroup();
    }

    @Override
    public int ioThreadPoolSize() {
        return theirs.ioThreadPoolSize();
    }

    @Override
    public Delay reconnectDelay() {
        return theirs.reconnectDelay();
    }

    @Override
    public SocketAddressResolver socketAddressResolver() {
        return theirs.socketAddressResolver();
    }

    @Override
    public Timer timer() {
        return theirs.timer();
    }

    @Override
    public Tracing tracing() {
        return theirs.tracing();
    }
}
