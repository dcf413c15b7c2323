package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.sql.Grants;
import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import dev.holdfast.task.TaskOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The user of the manual. The conformance tests also run as this user. */
@DisplayName("The permissions of the manual")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class JdbcPermissionsTest {

    private static final int THREADS = 32;

    private static String newDatabase(TestDatabase database) {
        String url = database.newUrl();
        JdbcStore.builder(new DriverDataSource(url)).open().close();
        return url;
    }

    private static JdbcStore open(String url) {
        return JdbcStore.builder(new DriverDataSource(url))
                .initialize(JdbcStore.Initialize.NEVER)
                .open();
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("don't let the user make, change or empty tables")
    void whatIsDangerousIsDenied(TestDatabase database) {
        String admin = newDatabase(database);
        String url = Grants.grant(admin, "leases", "holdfast_");
        for (String statement : List.of(
                "CREATE TABLE other (n INT)",
                "ALTER TABLE holdfast_claim ADD COLUMN n INT",
                "DROP TABLE holdfast_claim",
                "TRUNCATE TABLE holdfast_claim",
                "UPDATE holdfast_meta SET version = 7",
                "DELETE FROM holdfast_meta",
                "INSERT INTO holdfast_meta (one, version, token_floor, purged) VALUES (2, 0, 0, 0)")) {
            assertThatThrownBy(() -> Grants.run(url, List.of(statement)))
                    .as(statement)
                    .hasStackTraceContaining(
                            database == TestDatabase.POSTGRES && statement.matches("(ALTER|DROP).*")
                                    ? "must be owner"
                                    : "denied");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("are all needed: each that is missing is told when the store is opened, with its table")
    void eachIsNeeded(TestDatabase database) {
        String admin = newDatabase(database);
        String user = Grants.newUser();
        Grants grants = Grants.of(admin, "leases", user, "holdfast_");
        Grants.run(admin, grants.statements());
        String url = Grants.asUser(admin, user);
        open(url).close();
        assertThat(grants.each()).hasSize(29);
        for (Grants.Grant grant : grants.each()) {
            Grants.run(admin, List.of(grant.revocation()));
            assertThatThrownBy(() -> open(url))
                    .as(grant.text())
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("lacks permissions that locks need")
                    .hasMessageContaining(grant.table())
                    .hasMessageMatching("(?s).*\\b(" + grant.what().replaceAll(" .*", "") + "|permission denied)\\b.*")
                    .extracting(e -> ((StoreException) e).reason())
                    .isEqualTo(StoreException.Reason.DENIED);
            Grants.run(admin, List.of(grant.text()));
        }
        open(url).close();
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("with initialize=never no statement makes or changes a table, whoever the user is")
    void noTablesAreMade(TestDatabase database) throws InterruptedException {
        String admin = newDatabase(database);
        StatementLog log = new StatementLog(admin);
        JdbcStore store =
                JdbcStore.builder(log).initialize(JdbcStore.Initialize.NEVER).open();
        try (Holdfast client = Holdfast.builder(store).build();
                Hold hold = client.lock("a").acquire()) {
            assertThat(hold.isHeld()).isTrue();
            assertThat(store.housekeeping().runIfDue()).isTrue();
        }
        assertThat(log.said())
                .hasSizeGreaterThan(10)
                .noneMatch(text -> text.strip().matches("(?is)(CREATE|ALTER|DROP|TRUNCATE|GRANT|RENAME)\\b.*"));
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("who may not make tables and is to make them is told so")
    void mayNotMake(TestDatabase database) {
        String admin = newDatabase(database);
        String url = Grants.grant(admin, "leases", "holdfast_");
        assertThatThrownBy(() -> JdbcStore.builder(new DriverDataSource(url))
                        .tablePrefix("others_")
                        .open())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("lacks permissions that locks need")
                .extracting(e -> ((StoreException) e).reason())
                .isEqualTo(StoreException.Reason.DENIED);
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("to record runs may go while a client runs: no other command fails for it")
    void runsAreNoLongerRecorded(TestDatabase database) throws InterruptedException {
        String admin = newDatabase(database);
        String user = Grants.newUser();
        Grants grants = Grants.of(admin, "leases", user, "holdfast_");
        Grants.run(admin, grants.statements());
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (Holdfast client =
                Holdfast.builder(open(Grants.asUser(admin, user))).build()) {
            for (Grants.Grant grant : grants.each()) {
                if (grant.table().equals("holdfast_run")) {
                    Grants.run(admin, List.of(grant.revocation()));
                }
            }
            List<Callable<Boolean>> work = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                String name = "n" + i;
                work.add(() -> {
                    boolean hasRun = client.task(name)
                            .runIfDue(TaskOptions.atMost(Duration.ofMinutes(1)), hold -> {})
                            .hasRun();
                    try (Hold hold = client.lock(name + "-lock").acquire()) {
                        return hasRun && hold.isHeld();
                    }
                });
            }
            for (Future<Boolean> each : threads.invokeAll(work)) {
                assertThat(each).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(true);
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
