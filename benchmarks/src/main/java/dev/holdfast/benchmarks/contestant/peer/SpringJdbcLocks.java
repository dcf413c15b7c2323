package dev.holdfast.benchmarks.contestant.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.Servers;
import java.nio.file.Path;
import org.springframework.core.io.ClassPathResource;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * The registry of Spring Integration on a database, with its default settings, as a program sets it up.
 *
 * @param script that makes its tables, as it ships
 */
public record SpringJdbcLocks(Servers.Kind kind, String script) implements Contestant {

    public static final SpringJdbcLocks ON_POSTGRESQL =
            new SpringJdbcLocks(Servers.Kind.POSTGRESQL, "schema-postgresql.sql");
    public static final SpringJdbcLocks ON_MARIADB = new SpringJdbcLocks(Servers.Kind.MARIADB, "schema-mysql.sql");

    private static final String SCRIPTS = "org/springframework/integration/jdbc/";

    @Override
    public String title() {
        return "spring";
    }

    @Override
    public boolean isPeer() {
        return true;
    }

    @Override
    public Client connect(Path place) {
        Database database = Database.at(kind, place);
        HikariDataSource pool = database.pool();
        database.once(
                script, () -> new ResourceDatabasePopulator(new ClassPathResource(SCRIPTS + script)).execute(pool));
        DefaultLockRepository repository = new DefaultLockRepository(pool);
        repository.setTransactionManager(new JdbcTransactionManager(pool));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        return new SpringClient(pool, repository, new JdbcLockRegistry(repository));
    }

    private record SpringClient(HikariDataSource pool, DefaultLockRepository repository, JdbcLockRegistry registry)
            implements Client {

        @Override
        public Mutex mutex(String name) {
            return new LockMutex(registry.obtain(name));
        }

        @Override
        public void close() {
            repository.close();
            pool.close();
        }
    }
}
