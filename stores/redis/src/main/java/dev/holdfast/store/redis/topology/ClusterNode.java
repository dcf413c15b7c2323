package dev.holdfast.store.redis.topology;

import dev.holdfast.store.redis.connection.ReconnectingConnection;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.function.BooleanSupplier;

/**
 * One node of a cluster with its own connections, so that a failure affects no other node.
 *
 * @param commands connected when the node is a primary
 * @param messages connected when this client subscribes to a bucket there
 */
public record ClusterNode(
        Slots.Place place,
        ReconnectingConnection<StatefulRedisConnection<byte[], byte[]>> commands,
        ReconnectingConnection<StatefulRedisPubSubConnection<byte[], byte[]>> messages) {

    /**
     * Gives up both connections if this is the one for commands: a node that leaves commands unanswered sends no
     * messages either.
     */
    public void giveUp(StatefulConnection<?, ?> broken) {
        if (commands.current() == broken) {
            commands.giveUp(broken);
            messages.giveUp();
        }
    }

    /**
     * Replaces the connection for commands if it is this one and stays silent; and then also the one for messages,
     * which is silent too.
     */
    public void replace(StatefulRedisConnection<byte[], byte[]> silent, BooleanSupplier isSilent) {
        commands.replace(silent, isSilent, messages::giveUp);
    }

    /** Stops connecting and closes the connections, because the node left the cluster. */
    public void leave() {
        commands.giveUp();
        messages.giveUp();
        close();
    }

    /** Stops connecting. */
    public void close() {
        commands.close();
        messages.close();
    }
}
