package dev.holdfast.store.redis;

import dev.holdfast.spi.StoreException;
import dev.holdfast.store.redis.topology.Route;
import dev.holdfast.testkit.FaultInTurn;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.AbstractList;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A driver that throws what none should, when it is the turn of a call. */
final class ThrowingRoute {

    /** Where something is thrown. */
    enum Place {
        /** The driver throws, and sends nothing. */
        DRIVER,
        /** The driver throws when the command is sent. */
        SENT,
        /** The answer can't be taken. */
        ANSWER,
        /** In the middle of whatever a pipeline is at that asks for a connection. */
        CONNECTION,
        /** In the middle of whatever a pipeline is at that reads the clock. */
        CLOCK
    }

    private final FaultInTurn<Place> fault;

    ThrowingRoute(FaultInTurn<Place> fault) {
        this.fault = fault;
    }

    /** A clock that throws at times. */
    long nanos() {
        fault.come(Place.CLOCK);
        return System.nanoTime();
    }

    /** A way with this in between. */
    Route between(Route real) {
        return new Route() {
            @Override
            public @Nullable StatefulRedisConnection<byte[], byte[]> current() {
                fault.come(Place.CONNECTION);
                StatefulRedisConnection<byte[], byte[]> connection = real.current();
                return connection == null ? null : connection(connection);
            }

            @Override
            public void giveUp(StatefulRedisConnection<byte[], byte[]> broken) {
                StatefulRedisConnection<byte[], byte[]> present = real.current();
                if (present != null) {
                    real.giveUp(present);
                }
            }

            @Override
            public void replace(StatefulRedisConnection<byte[], byte[]> silent, BooleanSupplier isSilent) {
                throw new Error("the test says so: no other connection is made");
            }

            @Override
            public void refused(StatefulRedisConnection<byte[], byte[]> connection, StoreException why) {
                throw new Error("the test says so: nobody hears that " + why.getMessage());
            }

            @Override
            public StoreException missing() {
                return real.missing();
            }

            @Override
            public String server() {
                return real.server();
            }
        };
    }

    @SuppressWarnings("unchecked")
    private StatefulRedisConnection<byte[], byte[]> connection(StatefulRedisConnection<byte[], byte[]> real) {
        return (StatefulRedisConnection<byte[], byte[]>) proxy(StatefulRedisConnection.class, real);
    }

    private Object proxy(Class<?> type, Object real) {
        return Proxy.newProxyInstance(
                ThrowingRoute.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    boolean isCommand = method.getName().startsWith("eval");
                    if (isCommand) {
                        fault.come(Place.DRIVER);
                    }
                    Object result;
                    try {
                        result = method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                    if (isCommand) {
                        fault.come(Place.SENT);
                        return answered((CompletionStage<?>) result);
                    }
                    return method.getName().equals("async") ? proxy(RedisAsyncCommands.class, result) : result;
                });
    }

    /** Another future of the driver's kind, that fails where the answer was to be taken. */
    private Object answered(CompletionStage<?> real) {
        return Proxy.newProxyInstance(
                ThrowingRoute.class.getClassLoader(),
                new Class<?>[] {RedisFuture.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("whenComplete")) {
                        return real.thenApply(answer -> {
                                    if (fault.isTurnOf(Place.ANSWER)) {
                                        return new UnreadableAnswer(fault.text());
                                    }
                                    return answer;
                                })
                                .whenComplete((BiConsumer<Object, Throwable>) arguments[0]);
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** An answer that throws whoever looks at it. */
    private static final class UnreadableAnswer extends AbstractList<Object> {
        private final String text;

        UnreadableAnswer(String text) {
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
