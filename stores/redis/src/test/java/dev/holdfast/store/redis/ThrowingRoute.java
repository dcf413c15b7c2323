package dev.holdfast.store.redis;

import dev.holdfast.spi.StoreException;
import dev.holdfast.store.redis.topology.Route;
import dev.holdfast.testkit.FaultInTurn;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A driver that throws unexpectedly, at a call of choice. */
final class ThrowingRoute {

    /** Where something is thrown. */
    enum Place {
        /** The driver throws, and sends nothing. */
        DRIVER,
        /** The driver throws when the command is sent. */
        SENT,
        /** The answer can't be taken. */
        ANSWER,
        /** Wherever a pipeline gets its connection. */
        CONNECTION,
        /** Wherever a pipeline reads the clock. */
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

    /** A route with these faults. */
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
                    Object result = UnreadableAnswer.invoke(real, method, arguments);
                    if (isCommand) {
                        fault.come(Place.SENT);
                        return UnreadableAnswer.future(
                                (CompletionStage<?>) result,
                                read -> fault.isTurnOf(Place.ANSWER) ? new UnreadableAnswer(fault.text()) : read);
                    }
                    return method.getName().equals("async") ? proxy(RedisAsyncCommands.class, result) : result;
                });
    }
}
