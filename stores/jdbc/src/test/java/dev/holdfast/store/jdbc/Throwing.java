package dev.holdfast.store.jdbc;

import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.store.ledger.runtime.NamedThreadFactory;
import dev.holdfast.testkit.FaultInTurn;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import org.postgresql.PGConnection;

/** A driver that throws an unexpected error at a given call. */
final class Throwing {

    /** Where the error is thrown. */
    enum Place {
        /** The driver throws before it does anything. */
        DRIVER,
        /** The driver throws after it has done its work. */
        ANSWER,
        /** The driver throws after it has received notifications, which are lost; on PostgreSQL. */
        NOTIFICATION,
        /** A thread cannot be started. */
        THREAD,
        /** The clock throws, in the middle of any operation; on SQLite. */
        CLOCK
    }

    /** Used instead of an OutOfMemoryError, on which JUnit would stop. */
    static final class NoThread extends Error {
        private static final long serialVersionUID = 1L;

        private NoThread() {
            super("unable to create native thread: the test says so");
        }
    }

    /** Calls that are not counted, because they do not use the database. */
    private static final Set<String> QUIET = Set.of(
            "isClosed",
            "isWrapperFor",
            "getTransactionIsolation",
            "getAutoCommit",
            "getMetaData",
            "createArrayOf",
            "getNotifications");

    private final FaultInTurn<Place> fault;

    Throwing(FaultInTurn<Place> fault) {
        this.fault = fault;
    }

    /** A source whose connections this wraps. */
    TestSource source(String url) {
        return new TestSource(url) {
            @Override
            public Connection getConnection() throws SQLException {
                fault.come(Place.DRIVER);
                Connection connection = super.getConnection();
                fault.come(Place.ANSWER);
                return connection(connection);
            }
        };
    }

    /** A connection that this wraps. */
    Connection connection(Connection real) {
        return proxy(Connection.class, real);
    }

    /** Threads that sometimes cannot be started. */
    NamedThreadFactory threads() {
        return (work, name) -> {
            Thread thread = new Thread(work, name) {
                @Override
                public void start() {
                    if (fault.isTurnOf(Place.THREAD)) {
                        throw new NoThread();
                    }
                    super.start();
                }
            };
            thread.setDaemon(true);
            return thread;
        };
    }

    /** A clock that sometimes throws. */
    StoreClock clock(StoreClock real) {
        return new StoreClock() {
            @Override
            public long nowMicros() {
                fault.come(Place.CLOCK);
                return real.nowMicros();
            }

            @Override
            public long unixMicros() {
                fault.come(Place.CLOCK);
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
                    Object result = wrapped(call(real, method, arguments));
                    if (method.getName().equals("unwrap") && arguments[0] == PGConnection.class) {
                        return proxy(PGConnection.class, (PGConnection) result);
                    }
                    if (method.getName().equals("getNotifications") && result != null) {
                        fault.come(Place.NOTIFICATION);
                    }
                    return result;
                }));
    }

    private Object call(Object real, Method method, Object[] arguments) throws Throwable {
        boolean isQuiet = QUIET.contains(method.getName())
                || method.getName().startsWith("set") && real instanceof Statement
                || method.getName().startsWith("get") && real instanceof ResultSet;
        if (!isQuiet) {
            fault.come(Place.DRIVER);
        }
        try {
            Object result = method.invoke(real, arguments);
            if (!isQuiet) {
                fault.come(Place.ANSWER);
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
