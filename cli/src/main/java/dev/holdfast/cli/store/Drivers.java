package dev.holdfast.cli.store;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import java.io.File;
import java.io.IOException;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Drivers that are not part of the command because of their licences: the user supplies the jars. */
final class Drivers {

    static final String VARIABLE = "HOLDFAST_DRIVERS";

    /** The jar with the driver, by the scheme of the store. */
    private static final Map<String, String> JARS = Map.of(
            "mariadb", "mariadb-java-client from org.mariadb.jdbc",
            "mysql", "mysql-connector-j from com.mysql");

    private static final int GROUP_WRITE = 0020;
    private static final int OTHERS_WRITE = 0002;

    private Drivers() {}

    /**
     * Registers a driver for a store, if it or one of its members needs one that is not part of the command.
     *
     * @throws CliException if there is none
     */
    static void provide(StoreLocation location, Map<String, String> environment) {
        JARS.forEach((scheme, jar) -> {
            if (location.involves(scheme)) {
                provide(scheme, jar, environment);
            }
        });
    }

    private static void provide(String scheme, String jar, Map<String, String> environment) {
        String url = "jdbc:" + scheme + "://localhost/any";
        if (DriverManager.drivers().anyMatch(driver -> accepts(driver, url))) {
            return;
        }
        List<Path> places = places(environment);
        try {
            Driver found = find(jarsIn(places), url);
            if (found != null) {
                DriverManager.registerDriver(new DriverWrapper(found));
                return;
            }
        } catch (SQLException | ServiceConfigurationError | LinkageError e) {
            throw new CliException(
                    ExitCode.STORE_UNUSABLE, "the driver for '" + scheme + ":' can't be loaded: " + escaped(e), e);
        }
        throw new CliException(
                ExitCode.STORE_UNUSABLE,
                "there is no driver for '" + scheme
                        + ":', and its licence does not allow us to include one: put the jar " + jar + " into "
                        + Printable.quote(places.get(0).toString()) + ", or name it in $" + VARIABLE,
                null);
    }

    private static String escaped(Throwable e) {
        return Printable.escape(e.toString());
    }

    /** Jars, and directories of jars. */
    static List<Path> places(Map<String, String> environment) {
        String named = environment.getOrDefault(VARIABLE, "");
        if (!named.isEmpty()) {
            return Stream.of(named.split(File.pathSeparator, -1))
                    .filter(one -> !one.isEmpty())
                    .map(Path::of)
                    .toList();
        }
        Path data = Configuration.directory(environment, "XDG_DATA_HOME", ".local/share");
        if (data == null) {
            // The home directory, found like that of the default file.
            data = Path.of(System.getProperty("user.home", ""), ".local", "share", "holdfast");
        }
        return List.of(data.resolve("drivers"));
    }

    private static List<Path> jarsIn(List<Path> places) {
        List<Path> jars = new ArrayList<>();
        for (Path place : places) {
            try {
                requireProtected(place);
                List<Path> found = Files.isDirectory(place) ? Jars.in(place) : List.of(place);
                for (Path jar : found) {
                    requireProtected(jar);
                }
                jars.addAll(found);
            } catch (IOException e) {
                throw new CliException(
                        ExitCode.STORE_UNUSABLE,
                        "the drivers in " + Printable.quote(place.toString()) + " can't be read: " + escaped(e),
                        e);
            }
        }
        return jars;
    }

    /** The jars run as part of the command, so only its user and root may be able to change them. */
    private static void requireProtected(Path path) throws IOException {
        if (!Files.exists(path)
                || !path.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return;
        }
        int owner = (int) Files.getAttribute(path, "unix:uid");
        int group = (int) Files.getAttribute(path, "unix:gid");
        int mode = (int) Files.getAttribute(path, "unix:mode");
        // Many systems give each user a group of the same number, in which no one else is.
        int writableByOthers = owner == group ? OTHERS_WRITE : OTHERS_WRITE | GROUP_WRITE;
        boolean isOthers = owner != 0 && owner != user(owner);
        if (isOthers || (mode & writableByOthers) != 0) {
            throw new CliException(
                    ExitCode.STORE_UNUSABLE,
                    "the drivers in " + Printable.quote(path.toString()) + " are not loaded, because other users "
                            + (isOthers
                                    ? "own them"
                                    : "can change them: run chmod go-w " + Printable.quote(path.toString())));
        }
    }

    /** The number of the user of this process; the given one if the system doesn't show it. */
    private static int user(int otherwise) throws IOException {
        Path self = Path.of("/proc/self");
        return Files.exists(self) ? (int) Files.getAttribute(self, "unix:uid") : otherwise;
    }

    /** The class loader stays open as long as the process lives. */
    private static @Nullable Driver find(List<Path> jars, String url) {
        ClassLoader loader = new URLClassLoader(Jars.urls(jars), Drivers.class.getClassLoader());
        for (Driver driver : ServiceLoader.load(Driver.class, loader)) {
            if (accepts(driver, url)) {
                return driver;
            }
        }
        return null;
    }

    private static boolean accepts(Driver driver, String url) {
        try {
            return driver.acceptsURL(url);
        } catch (SQLException e) {
            return false;
        }
    }

    /** Wraps a driver of another class loader, which the driver manager would not return to this one. */
    private static final class DriverWrapper implements Driver {
        private final Driver real;

        private DriverWrapper(Driver real) {
            this.real = real;
        }

        @Override
        public @Nullable Connection connect(String url, Properties info) throws SQLException {
            return real.connect(url, info);
        }

        @Override
        public boolean acceptsURL(String url) throws SQLException {
            return real.acceptsURL(url);
        }

        @Override
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) throws SQLException {
            return real.getPropertyInfo(url, info);
        }

        @Override
        public int getMajorVersion() {
            return real.getMajorVersion();
        }

        @Override
        public int getMinorVersion() {
            return real.getMinorVersion();
        }

        @Override
        public boolean jdbcCompliant() {
            return real.jdbcCompliant();
        }

        @Override
        public Logger getParentLogger() throws SQLFeatureNotSupportedException {
            return real.getParentLogger();
        }
    }
}
