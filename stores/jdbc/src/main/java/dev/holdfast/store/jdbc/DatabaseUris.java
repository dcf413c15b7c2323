package dev.holdfast.store.jdbc;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.UriReader;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;

/** Parses the URIs of databases; no other class does. */
final class DatabaseUris {

    private static final String FORM = "//[user[:password]@]host[:port]/database";

    private static final String PREFIX = "prefix";
    private static final String INITIALIZE = "initialize";
    private static final String TIMEOUT = "timeout";
    private static final String SCHEMA = "schema";
    private static final String KEEP_IDLE = "keepIdle";
    private static final String PASSWORD_FILE = "passwordFile";
    private static final String POOLER = "pooler";
    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

    /** The parameters passed on to a driver: none that loads classes, reads other files or runs anything. */
    private static final Set<String> POSTGRES_TLS = Set.of("sslmode", "sslrootcert", "sslcert", "sslkey");

    private static final Set<String> MYSQL_TLS = Set.of("sslMode", "serverSslCert");
    private static final Map<String, String> DRIVERS = Map.of(
            "postgresql", "org.postgresql:postgresql",
            "mysql", "com.mysql:mysql-connector-j",
            "mariadb", "org.mariadb.jdbc:mariadb-java-client");

    private static final Map<String, Integer> PORTS = Map.of("postgresql", 5432, "mysql", 3306, "mariadb", 3306);

    private final StoreUri uri;
    private final UriReader reader;
    private final Set<String> tls;

    private DatabaseUris(StoreUri uri) {
        this.uri = uri;
        this.reader = new UriReader(uri, "a database", FORM);
        this.tls = isPostgres() ? POSTGRES_TLS : MYSQL_TLS;
    }

    /**
     * A builder for the store that a URI names.
     *
     * @throws IllegalArgumentException if the URI is malformed, or has an unknown parameter or an invalid value
     */
    static JdbcStore.Builder builder(StoreUri uri) {
        return new DatabaseUris(uri).builder();
    }

    private boolean isPostgres() {
        return uri.scheme().equals("postgresql");
    }

    private JdbcStore.Builder builder() {
        Set<String> known = new HashSet<>(tls);
        known.addAll(Set.of(PREFIX, SCHEMA, INITIALIZE, KEEP_IDLE, PASSWORD_FILE, TIMEOUT));
        if (isPostgres()) {
            known.add(POOLER);
        }
        uri.allowOnly(known);
        DriverDataSource source = source();
        JdbcStore.Builder builder = JdbcStore.builder(source).keepsConnections().before(() -> requireDriver(source));
        reader.given(PREFIX, builder::tablePrefix);
        reader.given(SCHEMA, builder::schema);
        reader.given(INITIALIZE, value -> builder.initialize(initialize(value)));
        reader.given(KEEP_IDLE, rules -> keepIdle(builder, rules));
        if (isPooled()) {
            builder.sharesSessions();
        }
        return builder;
    }

    private void requireDriver(DriverDataSource source) {
        if (!source.hasDriver()) {
            throw new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    "no driver for '" + uri.scheme() + ":' is on the class path; add " + DRIVERS.get(uri.scheme()),
                    null);
        }
    }

    /** Whether each transaction may get another connection. */
    private boolean isPooled() {
        String pooler = reader.parameter(POOLER);
        if (pooler != null && !pooler.equals("transaction")) {
            throw reader.wrong(POOLER, "must be 'transaction', or be left out");
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
                        "The parameter 'keepIdle' of a database must have the form report-*:P7D,*:PT1H, not '"
                                + ResourceName.printable(rule) + "'");
            }
        }
    }

    private DriverDataSource source() {
        UriReader.Authority authority = reader.authority();
        String database = reader.decoded(reader.path());
        if (authority.servers().size() > 1 || !isPlain(database) || database.indexOf(':') >= 0) {
            throw reader.malformed();
        }
        String passwordFile = reader.parameter(PASSWORD_FILE);
        Properties properties = properties(authority);
        if (passwordFile != null && properties.containsKey("password")) {
            throw new IllegalArgumentException(
                    "Two passwords are set, one before the '@' and one in 'passwordFile': " + uri);
        }
        String url = "jdbc:" + uri.scheme() + "://" + place(authority.servers().get(0)) + "/" + database;
        return new DriverDataSource(url, properties, passwordFile == null ? null : Path.of(passwordFile));
    }

    private String place(String text) {
        UriReader.Server server = reader.server(text, PORTS.getOrDefault(uri.scheme(), 0));
        String host = server.host();
        if (!isPlain(host)) {
            throw reader.malformed();
        }
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + server.port();
    }

    /**
     * Whether the text is not empty and has no character that is special to a driver. Programs with unusual settings
     * can pass their own data source.
     */
    private static boolean isPlain(String text) {
        return !text.isEmpty() && text.chars().allMatch(c -> c > ' ' && c < 0x7f && "/\\?&;#%(),'\"".indexOf(c) < 0);
    }

    private Properties properties(UriReader.Authority authority) {
        Properties properties = new Properties();
        if (authority.user() != null) {
            properties.setProperty("user", authority.user());
        }
        if (authority.password() != null) {
            properties.setProperty("password", authority.password());
        }
        if (isPooled()) {
            // A statement prepared on one connection does not exist on the next.
            properties.setProperty("prepareThreshold", "0");
        }
        setTimes(properties, timeout());
        tls.forEach(name -> reader.given(name, value -> properties.setProperty(name, value)));
        return properties;
    }

    private void setTimes(Properties properties, Duration timeout) {
        properties.setProperty("tcpKeepAlive", "true");
        if (isPostgres()) {
            String seconds = Long.toString(Math.max(1, timeout.toSeconds()));
            properties.setProperty("socketTimeout", seconds);
            properties.setProperty("connectTimeout", seconds);
            properties.setProperty("ApplicationName", "holdfast");
        } else {
            String millis = Long.toString(timeout.toMillis());
            properties.setProperty("socketTimeout", millis);
            properties.setProperty("connectTimeout", millis);
            // The statements are few and used all the time, so the server should not parse them each time.
            properties.setProperty("useServerPrepStmts", "true");
        }
    }

    private Duration timeout() {
        String text = reader.parameter(TIMEOUT);
        Duration timeout = text == null ? DEFAULT_TIMEOUT : reader.duration(TIMEOUT, text);
        if (timeout.compareTo(Duration.ofSeconds(1)) < 0 || timeout.compareTo(Duration.ofHours(1)) > 0) {
            throw reader.wrong(TIMEOUT, "must be 1 second to 1 hour, such as PT10S");
        }
        return timeout;
    }

    private JdbcStore.Initialize initialize(String value) {
        return Arrays.stream(JdbcStore.Initialize.values())
                .filter(one -> text(one).equals(value))
                .findFirst()
                .orElseThrow(() -> reader.wrong(
                        INITIALIZE,
                        "must be one of "
                                + Arrays.stream(JdbcStore.Initialize.values())
                                        .map(DatabaseUris::text)
                                        .toList()
                                + ", not '" + value + "'"));
    }

    private static String text(JdbcStore.Initialize initialize) {
        return initialize.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
