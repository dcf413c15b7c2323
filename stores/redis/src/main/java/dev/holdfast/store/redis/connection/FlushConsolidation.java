package dev.holdfast.store.redis.connection;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/*
 * The driver hands each command to the thread of its connection and has it written at once. Of many that are handed
 * over while that thread is busy, or that follow from the answers of one read, each would be a packet and a call of the
 * system of its own. Here what is written leaves when the thread has nothing else to write, or has heard all answers
 * that were there.
 */

/** Consolidation of flushes: commands that are sent at about the same time on a connection leave together. */
public record FlushConsolidation(NettyCustomizer theirs) implements NettyCustomizer {

    /** So many leave at the latest. */
    private static final int MOST = 256;

    /**
     * The threads and settings of a program, for such connections. What else belongs to these differs between versions
     * of the driver, and is handed through as it is.
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
