package dev.holdfast.store.jdbc;

import dev.holdfast.servers.SqlServer;
import dev.holdfast.servers.sql.Grants;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import dev.holdfast.store.jdbc.server.IdlePolicy;
import dev.holdfast.testkit.StoreUnderTest;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Two stores with separate tables on a server, with only the permissions of the manual. */
final class JdbcUnderTest implements StoreUnderTest {

    private static final String CLOCK = "(SELECT micros FROM holdfast_clock)";

    /**
     * All tests of this JVM use the same tables in turn, because creating and dropping them takes longer than a test.
     */
    private static final String PREFIX = "t" + ProcessHandle.current().pid() + "_";

    private static final Map<String, String> RESTRICTED = new ConcurrentHashMap<>();

    private final SqlServer server;
    private final String url;
    private final boolean hasClock;
    private final JdbcStore first;
    private final JdbcStore second;

    /** @param hasClock whether the test moves the clock */
    JdbcUnderTest(SqlServer server, boolean hasClock) {
        this(server, hasClock, "");
    }

    /** @param options appended to the URL */
    JdbcUnderTest(SqlServer server, boolean hasClock, String options) {
        this.server = server;
        this.hasClock = hasClock;
        this.url = RESTRICTED.computeIfAbsent(server.url(), JdbcUnderTest::prepare) + options;
        if (hasClock) {
            long micros = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
            server.execute(
                    "DELETE FROM " + PREFIX + "clock", "INSERT INTO " + PREFIX + "clock VALUES (" + micros + ")");
        }
        this.first = open();
        this.second = open();
    }

    /** Creates all tables, and a user for them. */
    private static String prepare(String admin) {
        JdbcStore.builder(new DriverDataSource(admin))
                .tablePrefix(PREFIX)
                .initialize(JdbcStore.Initialize.ALWAYS)
                .open()
                .close();
        String user = Grants.newUser();
        List<String> statements =
                new ArrayList<>(Grants.of(admin, "leases", user, PREFIX).statements());
        statements.add("CREATE TABLE IF NOT EXISTS " + PREFIX + "clock (micros BIGINT NOT NULL)");
        statements.add("GRANT SELECT ON " + PREFIX + "clock TO " + user);
        Grants.run(admin, statements);
        return Grants.asUser(admin, user);
    }

    private JdbcStore open() {
        JdbcStore.Builder builder = JdbcStore.builder(new DriverDataSource(url))
                .keepsConnections()
                .initialize(JdbcStore.Initialize.NEVER)
                .tablePrefix(PREFIX);
        return (hasClock ? builder.clock(CLOCK) : builder).open();
    }

    @Override
    public LockStore first() {
        return first;
    }

    @Override
    public LockStore second() {
        return second;
    }

    @Override
    public Optional<ManualClock> clock() {
        return hasClock ? Optional.of(this::advance) : Optional.empty();
    }

    private void advance(Duration by) {
        server.execute("UPDATE " + PREFIX + "clock SET micros = micros + " + by.toNanos() / 1_000);
    }

    @Override
    public Duration shortTtl() {
        return Duration.ofMillis(500);
    }

    @Override
    public boolean forgetIdle() {
        if (!hasClock) {
            return false;
        }
        // Negative, so that names with tokens ahead of the clock are dropped too.
        long retention = -TimeUnit.SECONDS.toMicros(10);
        first.housekeeping().run(IdlePolicy.ofMicros(retention));
        first.housekeeping().run(IdlePolicy.ofMicros(retention));
        return true;
    }

    @Override
    public boolean damage(ResourceName name) {
        server.execute("UPDATE " + PREFIX + "resource SET capacity = 0 WHERE name = '" + name.value() + "'");
        return true;
    }

    @Override
    public int randomRuns() {
        return 60;
    }

    @Override
    public void close() {
        first.close();
        second.close();
        server.execute(Stream.of("session", "resource", "claim", "latch", "count", "annotation", "run")
                .map(table -> "DELETE FROM " + PREFIX + table)
                .toArray(String[]::new));
        server.execute("UPDATE " + PREFIX + "meta SET token_floor = 0, purged = 0");
    }
}
