package dev.holdfast.store.redis;

import dev.holdfast.store.redis.connection.ConnectionFactory;
import dev.holdfast.testkit.FaultInTurn;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

/** Connections to a cluster that throw unexpectedly, at a call of choice. */
final class ThrowingConnections implements ConnectionFactory.Between {

    /** Where something is thrown. */
    enum Place {
        /** The request for the slots, which is not sent. */
        SLOTS,
        /** Reading the answer to that. */
        SLOTS_ANSWER,
        /** A subscription, which is not sent. */
        SUBSCRIBE,
        /** A subscription, when it is sent. */
        SUBSCRIBED,
        /** The end of a subscription, which is not sent. */
        UNSUBSCRIBE
    }

    private final FaultInTurn<Place> fault;
    private final AtomicInteger slots = new AtomicInteger();

    ThrowingConnections(FaultInTurn<Place> fault) {
        this.fault = fault;
    }

    /** How often the slots were requested. */
    int slotsAsked() {
        return slots.get();
    }

    @Override
    @SuppressWarnings("unchecked")
    public StatefulRedisConnection<byte[], byte[]> commands(StatefulRedisConnection<byte[], byte[]> made) {
        return (StatefulRedisConnection<byte[], byte[]>) connection(StatefulRedisConnection.class, made);
    }

    @Override
    @SuppressWarnings("unchecked")
    public StatefulRedisPubSubConnection<byte[], byte[]> messages(StatefulRedisPubSubConnection<byte[], byte[]> made) {
        return (StatefulRedisPubSubConnection<byte[], byte[]>) connection(StatefulRedisPubSubConnection.class, made);
    }

    private Object connection(Class<?> type, Object real) {
        Class<?> commands =
                type == StatefulRedisConnection.class ? RedisAsyncCommands.class : RedisPubSubAsyncCommands.class;
        return Proxy.newProxyInstance(
                ThrowingConnections.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (method.getName().equals("equals")) {
                        return proxy == arguments[0];
                    }
                    Object result = UnreadableAnswer.invoke(real, method, arguments);
                    return method.getName().equals("async") ? commands(commands, result) : result;
                });
    }

    private Object commands(Class<?> type, Object real) {
        return Proxy.newProxyInstance(
                ThrowingConnections.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "clusterSlots" -> {
                            slots.incrementAndGet();
                            fault.come(Place.SLOTS);
                            Object answer = UnreadableAnswer.invoke(real, method, arguments);
                            return fault.isTurnOf(Place.SLOTS_ANSWER)
                                    ? UnreadableAnswer.future(
                                            (CompletionStage<?>) answer, read -> new UnreadableAnswer(fault.text()))
                                    : answer;
                        }
                        case "subscribe", "ssubscribe" -> {
                            fault.come(Place.SUBSCRIBE);
                            Object answer = UnreadableAnswer.invoke(real, method, arguments);
                            fault.come(Place.SUBSCRIBED);
                            return answer;
                        }
                        case "unsubscribe", "sunsubscribe" -> {
                            fault.come(Place.UNSUBSCRIBE);
                            return UnreadableAnswer.invoke(real, method, arguments);
                        }
                        default -> {
                            return UnreadableAnswer.invoke(real, method, arguments);
                        }
                    }
                });
    }
}
