package dev.holdfast.store.redis;

import dev.holdfast.store.redis.connection.ConnectionFactory;
import dev.holdfast.testkit.FaultInTurn;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.AbstractList;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

/** Connections to a cluster that throw what none should, when it is the turn of a call. */
final class ThrowingConnections implements ConnectionFactory.Between {

    /** Where something is thrown. */
    enum Place {
        /** When it is asked who serves what, which is not sent. */
        SLOTS,
        /** Whoever looks at the answer to that. */
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

    /** How often it was asked who serves what. */
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
                    Object result = invoke(real, method, arguments);
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
                            Object answer = invoke(real, method, arguments);
                            return fault.isTurnOf(Place.SLOTS_ANSWER)
                                    ? unreadable((CompletionStage<?>) answer)
                                    : answer;
                        }
                        case "subscribe", "ssubscribe" -> {
                            fault.come(Place.SUBSCRIBE);
                            Object answer = invoke(real, method, arguments);
                            fault.come(Place.SUBSCRIBED);
                            return answer;
                        }
                        case "unsubscribe", "sunsubscribe" -> {
                            fault.come(Place.UNSUBSCRIBE);
                            return invoke(real, method, arguments);
                        }
                        default -> {
                            return invoke(real, method, arguments);
                        }
                    }
                });
    }

    /** Another future of the driver's kind, with an answer that throws whoever looks at it. */
    @SuppressWarnings("unchecked")
    private Object unreadable(CompletionStage<?> real) {
        return Proxy.newProxyInstance(
                ThrowingConnections.class.getClassLoader(),
                new Class<?>[] {RedisFuture.class},
                (proxy, method, arguments) -> method.getName().equals("whenComplete")
                        ? real.<Object>thenApply(answer -> new Unreadable(fault.text()))
                                .whenComplete((BiConsumer<Object, Throwable>) arguments[0])
                        : invoke(real, method, arguments));
    }

    private static Object invoke(Object real, java.lang.reflect.Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(real, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** An answer that throws whoever looks at it. */
    private static final class Unreadable extends AbstractList<Object> {
        private final String text;

        Unreadable(String text) {
            this.text = text;
        }

        @Override
        public Object get(int index) {
            throw new Error(text);
        }

        @Override
        public int size() {
            throw new Error(text);
        }
    }
}
