package dev.holdfast.benchmarks.contestant.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.Servers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * ShedLock with its provider for JdbcTemplate, by the database's clock, as its manual advises. It is made for jobs that
 * are left out if they run elsewhere, and does not wait; so whoever wants the lock asks again after a short pause.
 *
 * @param time the type of its columns for times
 */
public record ShedLocks(Servers.Kind kind, String time) implements Contestant {

    public static final ShedLocks ON_POSTGRESQL = new ShedLocks(Servers.Kind.POSTGRESQL, "TIMESTAMP");
    public static final ShedLocks ON_MARIADB = new ShedLocks(Servers.Kind.MARIADB, "TIMESTAMP(3)");

    /** Between two tries; no wait for anything, but a caller who does not want to burn the processor. */
    public static final Duration PAUSE = Duration.ofMillis(1);

    private static final Duration LEASE = Duration.ofSeconds(30);

    @Override
    public String title() {
        return "shedlock";
    }

    @Override
    public boolean isPeer() {
        return true;
    }

    @Override
    public Client connect(Path place) {
        Database database = Database.at(kind, place);
        database.once(
                "shedlock",
                () -> database.execute(
                        "CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until " + time + " NOT NULL, locked_at "
                                + time + " NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))"));
        HikariDataSource pool = database.pool();
        LockProvider provider = new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(new JdbcTemplate(pool))
                .usingDbTime()
                .build());
        return new ShedClient(pool, provider);
    }

    private record ShedClient(HikariDataSource pool, LockProvider provider) implements Client {

        @Override
        public Mutex mutex(String name) {
            return new ShedMutex(provider, name);
        }

        @Override
        public void close() {
            pool.close();
        }
    }

    private static final class ShedMutex implements Mutex {

        private final LockProvider provider;
        private final String name;
        private @Nullable SimpleLock held;

        ShedMutex(LockProvider provider, String name) {
            this.provider = provider;
            this.name = name;
        }

        @Override
        public long acquire() throws InterruptedException {
            Optional<SimpleLock> lock = ask();
            while (lock.isEmpty()) {
                TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
                lock = ask();
            }
            held = lock.get();
            return NO_TOKEN;
        }

        private Optional<SimpleLock> ask() {
            return provider.lock(new LockConfiguration(Instant.now(), name, LEASE, Duration.ZERO));
        }

        @Override
        public void release() {
            SimpleLock lock = held;
            held = null;
            if (lock != null) {
                lock.unlock();
            }
        }
    }
}
