package dev.holdfast.sql.database;

import java.lang.reflect.InvocationTargetException;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * Data source behind a proxy that would give the connection of a transaction of the program's: locks have transactions
 * of their own, and one that is rolled back with the program's would be no lock. Classes of frameworks are known by
 * their names here, so that none of them is needed.
 */
public final class UnproxiedDataSource {

    private static final String[] PROXIES = {
        "org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy",
        "org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy",
    };

    private static final String HIKARI = "com.zaxxer.hikari.HikariDataSource";

    /** Proxies of proxies; more of them go round in a circle. */
    private static final int DEEPEST = 20;

    private UnproxiedDataSource() {}

    /**
     * The source itself, or what is behind the last of the proxies that take part in transactions.
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
        throw new IllegalArgumentException("The data source stands behind itself: " + source.getClass());
    }

    /** Whether a connection that is given back is set back to what it was, so that the next who has it finds it so. */
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
                    "What is behind the data source " + proxy.getClass() + " can't be found; pass that instead", e);
        }
        throw new IllegalArgumentException("There is no data source behind " + proxy.getClass());
    }

    /** An object of a class of this name that the source is, or says that it is a wrapper of. */
    private static Optional<Object> unwrapped(DataSource source, String name) {
        ClassLoader loader = source.getClass().getClassLoader();
        try {
            Class<?> type = Class.forName(
                    name, false, loader == null ? Thread.currentThread().getContextClassLoader() : loader);
            return source.isWrapperFor(type) ? Optional.of(source.unwrap(type)) : Optional.empty();
        } catch (ClassNotFoundException | LinkageError e) {
            return Optional.empty(); // nothing of that kind is near it
        } catch (SQLException | RuntimeException e) {
            return Optional.empty(); // one that can't tell wraps nothing that is known here
        }
    }
}
