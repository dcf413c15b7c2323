package dev.holdfast.sql.database;

import java.lang.reflect.InvocationTargetException;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * Finds the data source behind a proxy that would return the connection of the program's current transaction: locks
 * need their own transactions, because a lock must not be rolled back with the program's. Framework classes are
 * referred to by name, so that none of them is required.
 */
public final class UnproxiedDataSource {

    private static final String[] PROXIES = {
        "org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy",
        "org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy",
    };

    private static final String HIKARI = "com.zaxxer.hikari.HikariDataSource";

    /** The deepest nesting of proxies; more of them form a cycle. */
    private static final int DEEPEST = 20;

    private UnproxiedDataSource() {}

    /**
     * The source itself, or the one behind the last transaction-aware proxy.
     *
     * @throws IllegalArgumentException if such a proxy has nothing behind it
     */
    public static DataSource of(DataSource source) {
        DataSource bare = source;
        for (int depth = 0; depth < DEEPEST; depth++) {
            Optional<DataSource> behind = behind(bare);
            if (behind.isEmpty()) {
                return bare;
            }
            bare = behind.get();
        }
        throw new IllegalArgumentException("The data source wraps itself: " + source.getClass());
    }

    /** Whether the source resets the settings of a returned connection before it lends it again. */
    public static boolean setsConnectionsBack(DataSource source) {
        return unwrapped(source, HIKARI).isPresent();
    }

    private static Optional<DataSource> behind(DataSource source) {
        for (String name : PROXIES) {
            Optional<Object> proxy = unwrapped(source, name);
            if (proxy.isPresent()) {
                return Optional.of(target(proxy.get()));
            }
        }
        return Optional.empty();
    }

    private static DataSource target(Object proxy) {
        try {
            if (proxy.getClass().getMethod("getTargetDataSource").invoke(proxy) instanceof DataSource target) {
                return target;
            }
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            throw new IllegalArgumentException(
                    "The data source wrapped by " + proxy.getClass() + " can't be found; pass it directly", e);
        }
        throw new IllegalArgumentException("There is no data source wrapped by " + proxy.getClass());
    }

    /** The source as an instance of the named class, or one that it wraps. */
    private static Optional<Object> unwrapped(DataSource source, String name) {
        ClassLoader loader = source.getClass().getClassLoader();
        try {
            Class<?> type = Class.forName(
                    name, false, loader == null ? Thread.currentThread().getContextClassLoader() : loader);
            return source.isWrapperFor(type) ? Optional.of(source.unwrap(type)) : Optional.empty();
        } catch (ClassNotFoundException | LinkageError e) {
            return Optional.empty(); // the class is not available
        } catch (SQLException | RuntimeException e) {
            return Optional.empty(); // a source that cannot answer wraps no known class
        }
    }
}
