package dev.holdfast.store.jdbc;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;

/**
 * Opens {@code postgresql://[user[:password]@]host[:port]/database}, and the same with {@code mysql:} and
 * {@code mariadb:}. User and password are percent-encoded. An address of IPv6 stands in brackets. The driver of the
 * database must be on the class path.
 *
 * <p>Parameters: {@code prefix} and {@code schema} of the tables, {@code initialize} as in
 * {@link JdbcStore.Initialize}, {@code keepIdle} in the form of {@code report-*:P7D,*:PT1H} as in
 * {@link JdbcStore.Builder#keepIdle}, {@code passwordFile}, a file with the password, {@code timeout} in the form of
 * {@code PT10S}, after which a statement without an answer ends with an unknown outcome, and those for TLS that the
 * database's own driver knows: {@code sslmode}, {@code sslrootcert}, {@code sslcert} and {@code sslkey} for PostgreSQL,
 * {@code sslMode} and {@code serverSslCert} for the others. PostgreSQL also has {@code pooler=transaction}, for a
 * pooler in between that gives each transaction another connection. No other parameter reaches a driver.
 */
public final class JdbcStoreProvider implements StoreProvider {

    private static final String PREFIX = "prefix";
    private static final String INITIALIZE = "initialize";
    private static final String TIMEOUT = "timeout";
    private static final String SCHEMA = "schema";
    private static final String KEEP_IDLE = "keepIdle";
    private static final String PASSWORD_FILE = "passwordFile";
    private static final String POOLER = "pooler";
    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

    /** What may be said to a driver: nothing that loads classes, reads files of others or runs anything. */
    private static final Set<String> POSTGRES_TLS = Set.of("sslmode", "sslrootcert", "sslcert", "sslkey");

    private static final Set<String> MYSQL_TLS = Set.of("sslMode", "serverSslCert");
    private static final Map<String, String> DRIVERS = Map.of(
            "postgresql", "org.postgresql:postgresql",
            "mysql", "com.mysql:mysql-connector-j",
            "mariadb", "org.mariadb.jdbc:mariadb-java-client");

    private static final Map<String, Integer> PORTS = Map.of("postgresql", 5432, "mysql", 3306, "mariadb", 3306);

    /** For {@link java.util.ServiceLoader}. */
    public JdbcStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return PORTS.keySet();
    }

    @Override
    public LockStore open(StoreUri uri) {
        return builder(uri).openHere();
    }

    private static void requireDriver(StoreUri uri, DriverDataSource source) {
        if (!source.hasDriver()) {
            throw new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    "there is no driver for '" + uri.scheme() + ":' on the class path; add "
                            + DRIVERS.get(uri.scheme()),
                    null);
        }
    }

    static JdbcStore.Builder builder(StoreUri uri) {
        boolean isPostgres = uri.scheme().equals("postgresql");
        Set<String> tls = isPostgres ? POSTGRES_TLS : MYSQL_TLS;
        Set<String> known = new HashSet<>(tls);
        known.addAll(Set.of(PREFIX, SCHEMA, INITIALIZE, KEEP_IDLE, PASSWORD_FILE, TIMEOUT));
        if (isPostgres) {
            known.add(POOLER);
        }
        uri.allowOnly(known);
        DriverDataSource source = source(uri, tls);
        JdbcStore.Builder builder =
                JdbcStore.builder(source).keepsConnections().before(() -> requireDriver(uri, source));
        Map<String, String> parameters = uri.parameters();
        if (parameters.containsKey(PREFIX)) {
            builder.tablePrefix(parameters.get(PREFIX));
        }
        if (parameters.containsKey(SCHEMA)) {
            builder.schema(parameters.get(SCHEMA));
        }
        if (parameters.containsKey(INITIALIZE)) {
            builder.initialize(initialize(parameters.get(INITIALIZE)));
        }
        if (parameters.containsKey(KEEP_IDLE)) {
            keepIdle(builder, parameters.get(KEEP_IDLE));
        }
        if (isPooled(uri)) {
            builder.sharesSessions();
        }
        return builder;
    }

    /** Whether each transaction has another connection. */
    private static boolean isPooled(StoreUri uri) {
        String pooler = uri.parameters().get(POOLER);
        if (pooler != null && !pooler.equals("transaction")) {
            throw new IllegalArgumentException(
                    "The parameter 'pooler' of a database is 'transaction', or is left away: " + uri);
        }
        return pooler != null;
    }

    private static void keepIdle(JdbcStore.Builder builder, String rules) {
        for (String rule : rules.split(",", -1)) {
            int colon = rule.lastIndexOf(':');
            try {
                builder.keepIdle(rule.substring(0, Math.max(0, colon)), Duration.parse(rule.substring(colon + 1)));
            } catch (DateTimeParseException e) {
                throw new IllegalArgumentException(
                        "The parameter 'keepIdle' of a database is of the form report-*:P7D,*:PT1H, unlike '"
                                + ResourceName.printable(rule) + "'");
            }
        }
    }

    static DriverDataSource source(StoreUri uri, Set<String> tls) {
        String rest = uri.rest();
        int at = rest.lastIndexOf('@');
        int slash = rest.indexOf('/', Math.max(2, at));
        if (!rest.startsWith("//") || slash < 0 || slash + 1 == rest.length()) {
            throw malformed(uri);
        }
        String place = rest.substring(at < 0 ? 2 : at + 1, slash);
        int colon = place.endsWith("]") ? -1 : place.lastIndexOf(':');
        String host = colon < 0 ? place : place.substring(0, colon);
        boolean isBracketed = host.startsWith("[") && host.endsWith("]");
        if (host.isEmpty() || (host.indexOf(':') >= 0 && !isBracketed) || !isPlain(host)) {
            throw malformed(uri);
        }
        String database = decoded(rest.substring(slash + 1), uri);
        if (!isPlain(database) || database.indexOf(':') >= 0) {
            throw malformed(uri);
        }
        int port = colon < 0 ? PORTS.getOrDefault(uri.scheme(), 0) : port(place.substring(colon + 1), uri);
        Properties properties = new Properties();
        if (at >= 0) {
            String[] user = rest.substring(2, at).split(":", 2);
            properties.setProperty("user", decoded(user[0], uri));
            if (user.length > 1) {
                properties.setProperty("password", decoded(user[1], uri));
            }
        }
        Map<String, String> parameters = uri.parameters();
        String passwordFile = parameters.get(PASSWORD_FILE);
        if (passwordFile != null && properties.containsKey("password")) {
            throw new IllegalArgumentException(
                    "There are two passwords, one before the '@' and one in 'passwordFile': " + uri);
        }
        if (isPooled(uri)) {
            // A statement that was prepared on one connection is not known on the next.
            properties.setProperty("prepareThreshold", "0");
        }
        setTimes(properties, uri.scheme(), timeout(uri));
        tls.stream()
                .filter(parameters::containsKey)
                .forEach(name -> properties.setProperty(name, parameters.get(name)));
        String url = "jdbc:" + uri.scheme() + "://" + host + ":" + port + "/" + database;
        return new DriverDataSource(url, properties, passwordFile == null ? null : Path.of(passwordFile));
    }

    /**
     * No character that means something to a driver; whatever is unusual belongs into a data source of the program's
     * own.
     */
    private static boolean isPlain(String text) {
        return text.chars().allMatch(c -> c > ' ' && c < 0x7f && "/\\?&;#%(),'\"".indexOf(c) < 0);
    }

    private static void setTimes(Properties properties, String scheme, Duration timeout) {
        boolean isPostgres = scheme.equals("postgresql");
        properties.setProperty("tcpKeepAlive", "true");
        if (isPostgres) {
            String seconds = Long.toString(Math.max(1, timeout.toSeconds()));
            properties.setProperty("socketTimeout", seconds);
            properties.setProperty("connectTimeout", seconds);
            properties.setProperty("ApplicationName", "holdfast");
        } else {
            String millis = Long.toString(timeout.toMillis());
            properties.setProperty("socketTimeout", millis);
            properties.setProperty("connectTimeout", millis);
            // Few statements, used all the time: the server need not read them each time.
            properties.setProperty("useServerPrepStmts", "true");
        }
    }

    private static Duration timeout(StoreUri uri) {
        String text = uri.parameters().get(TIMEOUT);
        if (text == null) {
            return DEFAULT_TIMEOUT;
        }
        try {
            Duration timeout = Duration.parse(text);
            if (timeout.compareTo(Duration.ofSeconds(1)) >= 0 && timeout.compareTo(Duration.ofHours(1)) <= 0) {
                return timeout;
            }
        } catch (DateTimeParseException e) {
            // Told below, with what is right.
        }
        throw new IllegalArgumentException(
                "The parameter 'timeout' of a database is one second to an hour, in the form of PT10S: " + uri);
    }

    private static JdbcStore.Initialize initialize(String value) {
        for (JdbcStore.Initialize one : JdbcStore.Initialize.values()) {
            if (text(one).equals(value)) {
                return one;
            }
        }
        throw new IllegalArgumentException("The parameter 'initialize' of a database is one of "
                + Arrays.stream(JdbcStore.Initialize.values())
                        .map(JdbcStoreProvider::text)
                        .toList()
                + ", not '" + value + "'");
    }

    private static String text(JdbcStore.Initialize initialize) {
        return initialize.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static int port(String text, StoreUri uri) {
        try {
            int number = Integer.parseInt(text);
            if (number >= 1 && number <= 65_535) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Told below, with what is right.
        }
        throw malformed(uri);
    }

    private static String decoded(String text, StoreUri uri) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // Without its cause, whose text repeats a part of the password.
            throw new IllegalArgumentException("User, password and database are percent-encoded: " + uri);
        }
    }

    private static IllegalArgumentException malformed(StoreUri uri) {
        return new IllegalArgumentException(
                "A database has the form " + uri.scheme() + "://[user[:password]@]host[:port]/database, unlike " + uri);
    }
}
