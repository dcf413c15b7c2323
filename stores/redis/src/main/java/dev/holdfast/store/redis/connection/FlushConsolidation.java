package dev.holdfast.store.redis.connection;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/*
 * The driver passes each command to its connection's thread, which writes and flushes it at once. Commands passed while
 * that thread is busy, or that follow from the replies of one read, would each take a packet and a system call. With
 * this handler a flush happens when the thread has nothing else to write, or has handled all replies of the read.
 */

/** Consolidates flushes: commands sent at about the same time on a connection share a packet. */
public record FlushConsolidation(NettyCustomizer theirs) implements NettyCustomizer {

    /** Flushes after this many writes at the latest. */
    private static final int MOST = 256;

    /**
     * The program's resources with this customizer added. Their other methods differ between driver versions, so a
     * proxy forwards them.
     */
    public static ClientResources of(ClientResources theirs) {
        FlushConsolidation consolidation = new FlushConsolidation(theirs.nettyCustomizer());
        return (ClientResources) Proxy.newProxyInstance(
                FlushConsolidation.class.getClassLoader(),
                new Class<?>[] {ClientResources.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("nettyCustomizer")) {
                        return consolidation;
                    }
                    try {
                        return method.invoke(theirs, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Override
    public void afterBootstrapInitialized(Bootstrap bootstrap) {
        theirs.afterBootstrapInitialized(bootstrap);
    }

    @Override
    public void afterChannelInitialized(Channel channel) {
        channel.pipeline().addFirst(new FlushConsolidationHandler(MOST, true));
        theirs.afterChannelInitialized(channel);
    }
}
