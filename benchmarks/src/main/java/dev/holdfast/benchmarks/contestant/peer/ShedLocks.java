package dev.holdfast.benchmarks.contestant.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.Servers;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * ShedLock with its provider for JdbcTemplate, by the database's clock, as its manual advises. It is made for jobs that
 * are skipped while they run elsewhere, and does not wait; here a thread retries after a short pause.
 */
public final class ShedLocks {

    public static final Contestant ON_POSTGRESQL = peer(Servers.Kind.POSTGRESQL, "TIMESTAMP");
    public static final Contestant ON_MARIADB = peer(Servers.Kind.MARIADB, "TIMESTAMP(3)");

    /** Between two attempts, so that waiting does not burn the processor. */
    public static final Duration PAUSE = Duration.ofMillis(1);

    private static final Duration LEASE = Duration.ofSeconds(30);

    private ShedLocks() {}

    /** @param time the type of its columns for times */
    private static Contestant peer(Servers.Kind kind, String time) {
        return new Peer("shedlock", place -> {
            Database database = Database.at(kind, place);
            database.once(
                    "shedlock",
                    () -> database.execute("CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until " + time
                            + " NOT NULL, locked_at " + time
                            + " NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))"));
            HikariDataSource pool = database.pool();
            LockProvider provider = new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                    .withJdbcTemplate(new JdbcTemplate(pool))
                    .usingDbTime()
                    .build());
            return Contestant.Client.of(
                    name -> PeerMutex.of(() -> acquire(provider, name), SimpleLock::unlock), pool::close);
        });
    }

    private static SimpleLock acquire(LockProvider provider, String name) throws InterruptedException {
        while (true) {
            Optional<SimpleLock> lock = provider.lock(new LockConfiguration(Instant.now(), name, LEASE, Duration.ZERO));
            if (lock.isPresent()) {
                return lock.get();
            }
            TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
        }
    }
}
