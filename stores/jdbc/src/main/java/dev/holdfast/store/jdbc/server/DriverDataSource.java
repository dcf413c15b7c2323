package dev.holdfast.store.jdbc.server;

import dev.holdfast.sql.database.FailureKind;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Optional;
import java.util.Properties;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.logging.Logger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Data source for a URL, with the driver that is available. */
public final class DriverDataSource implements DataSource {

    /** The longest password file. */
    private static final long LONGEST = 64 * 1024;

    private final String url;
    private final Properties properties;
    private final @Nullable Path passwordFile;

    public DriverDataSource(String url) {
        this(url, new Properties(), null);
    }

    /**
     * Creates a data source.
     *
     * @param properties including user and password; passed only to the driver
     * @param passwordFile a file with the password, read for each connection, so that the password can be changed
     */
    public DriverDataSource(String url, Properties properties, @Nullable Path passwordFile) {
        this.url = url;
        this.properties = properties;
        this.passwordFile = passwordFile;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Properties all = new Properties();
        all.putAll(properties);
        if (passwordFile != null) {
            all.setProperty("password", passwordIn(passwordFile));
        }
        Connection connection = driver().orElseThrow(DriverDataSource::noDriver).connect(url, all);
        if (connection == null) {
            throw noDriver();
        }
        return connection;
    }

    private static SQLException noDriver() {
        return new SQLException("no driver accepts the URL", "08001");
    }

    /** The same database, with one more property for the driver. */
    public DriverDataSource with(String key, String value) {
        Properties all = new Properties();
        all.putAll(properties);
        all.setProperty(key, value);
        return new DriverDataSource(url, all, passwordFile);
    }

    /** Whether there is a driver. */
    public boolean hasDriver() {
        return driver().isPresent();
    }

    private Optional<Driver> driver() {
        return driver(url, DriverManager.drivers());
    }

    /**
     * The registered driver, or otherwise one that this class's loader sees. A driver is not registered if the first
     * thread that used the driver manager had a context class loader that does not see it.
     */
    static Optional<Driver> driver(String url, Stream<Driver> registered) {
        return registered
                .filter(driver -> serves(driver, url))
                .findFirst()
                .or(() -> ServiceLoader.load(Driver.class, DriverDataSource.class.getClassLoader()).stream()
                        .flatMap(DriverDataSource::instance)
                        .filter(driver -> serves(driver, url))
                        .findFirst());
    }

    /** Empty if a driver cannot be loaded, such as one for a newer Java: it may be for another database. */
    private static Stream<Driver> instance(ServiceLoader.Provider<Driver> provider) {
        try {
            return Stream.of(provider.get());
        } catch (ServiceConfigurationError e) {
            return Stream.empty();
        }
    }

    private static boolean serves(Driver driver, String url) {
        try {
            return driver.acceptsURL(url);
        } catch (SQLException e) {
            return false;
        }
    }

    /** The content of a file without trailing line ends. */
    private static String passwordIn(Path file) throws SQLException {
        try {
            if (Files.size(file) <= LONGEST) {
                return Files.readString(file).replaceFirst("[\\r\\n]+$", "");
            }
        } catch (NoSuchFileException e) {
            throw new SQLException("there is no password file " + file, FailureKind.NO_PASSWORD_STATE, e);
        } catch (IOException e) {
            throw new SQLException(
                    "the password file " + file + " can't be read: "
                            + e.getClass().getSimpleName(),
                    FailureKind.NO_PASSWORD_STATE);
        }
        throw new SQLException(
                "the password file " + file + " is larger than 64 KiB and can't be a password",
                FailureKind.NO_PASSWORD_STATE);
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException("Set the user in the settings of the data source");
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        throw new SQLFeatureNotSupportedException("This data source has no log writer");
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        throw new SQLFeatureNotSupportedException("Set the time-out in the settings of the data source");
    }

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException("This data source has no log writer");
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        throw new SQLException("Not a " + type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return type.isInstance(this);
    }
}
