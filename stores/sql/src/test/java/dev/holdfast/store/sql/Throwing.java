package dev.holdfast.store.sql;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/** Throws what no driver should at one call of a kind. Calls are counted; each number has its kind of throwable. */
final class Throwing {

    /** Where something is thrown. */
    enum Place {
        /** The driver throws, and does nothing. */
        DRIVER,
        /** The driver throws when it is done. */
        ANSWER,
        /** No thread can be started. */
        THREAD,
        /** In the middle of whatever the store is at that reads the clock; on SQLite. */
        CLOCK
    }

    /** In the place of an OutOfMemoryError, which JUnit takes for its own end. */
    static final class NoThread extends Error {
        private static final long serialVersionUID = 1L;

        private NoThread() {
            super("unable to create native thread: the test says so");
        }
    }

    /** What is not counted: it does nothing with the database. */
    private static final Set<String> QUIET = Set.of(
            "isClosed", "isWrapperFor", "getTransactionIsolation", "getAutoCommit", "getMetaData", "createArrayOf");

    private final Place place;
    private final AtomicInteger left = new AtomicInteger();
    private volatile int number;
    private volatile boolean wasThrown;

    Throwing(Place place) {
        this.place = place;
    }

    /** From here on something is thrown at the call of that number, counted from one. */
    void at(int turn) {
        wasThrown = false;
        number = turn;
        left.set(turn);
    }

    /** From here on nothing is thrown any more; tells whether it was. */
    boolean isOver() {
        left.set(0);
        return wasThrown;
    }

    private void come(Place here) {
        if (here == place && left.get() > 0 && left.decrementAndGet() == 0) {
            wasThrown = true;
            String text = "the test says so: " + place + " " + number;
            switch (number % 4) {
                case 0 -> throw new IllegalStateException(text);
                case 1 -> throw new Error(text);
                case 2 -> throw new AssertionError(text);
                default -> throw new RejectedExecutionException(text);
            }
        }
    }

    /** Connections of a source with this in between. */
    TestSource source(String url) {
        return new TestSource(url) {
            @Override
            public Connection getConnection() throws SQLException {
                come(Place.DRIVER);
                Connection connection = super.getConnection();
                come(Place.ANSWER);
                return connection(connection);
            }
        };
    }

    /** A connection with this in between. */
    Connection connection(Connection real) {
        return proxy(Connection.class, real);
    }

    /** Threads that can't be started at times. */
    Threads threads() {
        return (work, name) -> {
            Thread thread = new Thread(work, name) {
                @Override
                public void start() {
                    if (place == Place.THREAD && left.get() > 0 && left.decrementAndGet() == 0) {
                        wasThrown = true;
                        throw new NoThread();
                    }
                    super.start();
                }
            };
            thread.setDaemon(true);
            return thread;
        };
    }

    /** A clock that throws at times. */
    StoreClock clock(StoreClock real) {
        return new StoreClock() {
            @Override
            public long nowMicros() {
                come(Place.CLOCK);
                return real.nowMicros();
            }

            @Override
            public long unixMicros() {
                come(Place.CLOCK);
                return real.unixMicros();
            }
        };
    }

    private <T> T proxy(Class<T> type, T real) {
        return type.cast(Proxy.newProxyInstance(
                Throwing.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (method.getDeclaringClass() == Object.class) {
                        return switch (method.getName()) {
                            case "equals" -> proxy == arguments[0];
                            case "hashCode" -> System.identityHashCode(proxy);
                            default -> "throwing " + real;
                        };
                    }
                    return wrapped(call(real, method, arguments));
                }));
    }

    private Object call(Object real, Method method, Object[] arguments) throws Throwable {
        boolean isQuiet = QUIET.contains(method.getName())
                || method.getName().startsWith("set") && real instanceof Statement
                || method.getName().startsWith("get") && real instanceof ResultSet;
        if (!isQuiet) {
            come(Place.DRIVER);
        }
        try {
            Object result = method.invoke(real, arguments);
            if (!isQuiet) {
                come(Place.ANSWER);
            }
            return result;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private Object wrapped(Object result) {
        if (result instanceof PreparedStatement statement) {
            return proxy(PreparedStatement.class, statement);
        } else if (result instanceof Statement statement) {
            return proxy(Statement.class, statement);
        } else if (result instanceof ResultSet rows) {
            return proxy(ResultSet.class, rows);
        }
        return result;
    }
}
