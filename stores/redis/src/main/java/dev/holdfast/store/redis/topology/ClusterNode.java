package dev.holdfast.store.redis.topology;

import dev.holdfast.store.redis.connection.ReconnectingConnection;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.function.BooleanSupplier;

/**
 * One node of a cluster, with connections of its own: what befalls them is nothing to the other nodes.
 *
 * @param commands made when the node is one of the primaries
 * @param messages made when this client is to be told of a bucket there
 */
public record ClusterNode(
        Slots.Place place,
        ReconnectingConnection<StatefulRedisConnection<byte[], byte[]>> commands,
        ReconnectingConnection<StatefulRedisPubSubConnection<byte[], byte[]>> messages) {

    /**
     * Gives both connections up if the one for commands is this one: a node that leaves a command unanswered tells
     * nothing either.
     */
    public void giveUp(StatefulConnection<?, ?> broken) {
        if (commands.current() == broken) {
            commands.giveUp(broken);
            end(messages);
        }
    }

    /**
     * Has another connection take the place of the one for commands if that is this one and stays silent; and then of
     * the one for messages, which tells nothing either.
     */
    public void replace(StatefulRedisConnection<byte[], byte[]> silent, BooleanSupplier isSilent) {
        commands.replace(silent, isSilent, () -> end(messages));
    }

    /** It takes part no more: connects no more, and ends the connections. */
    public void leave() {
        end(commands);
        end(messages);
        close();
    }

    /** Connects no more. */
    public void close() {
        commands.close();
        messages.close();
    }

    private static void end(ReconnectingConnection<? extends StatefulConnection<byte[], byte[]>> link) {
        StatefulConnection<byte[], byte[]> present = link.current();
        if (present != null) {
            link.giveUp(present);
        }
    }
}
