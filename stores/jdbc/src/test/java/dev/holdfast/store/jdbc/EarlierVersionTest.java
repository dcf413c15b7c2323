package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.servers.sql.EarlierProgram;
import dev.holdfast.servers.sql.EarlierVersionRules;
import dev.holdfast.servers.sql.Grants;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.store.jdbc.JdbcStore.Initialize;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import dev.holdfast.store.jdbc.server.IdlePolicy;
import dev.holdfast.task.TaskOptions;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Programs of version 1.0 next to present ones")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class EarlierVersionTest {

    private static JdbcStore.Builder builder(String url) {
        return JdbcStore.builder(new DriverDataSource(url)).keepsConnections();
    }

    private static String database(TestDatabase product) {
        String url = product.newUrl();
        builder(url).versions("1.0").open().close();
        return url;
    }

    @Nested
    @DisplayName("On PostgreSQL")
    class OnPostgres extends OnServer {
        OnPostgres() {
            super(TestDatabase.POSTGRES);
        }
    }

    @Nested
    @DisplayName("On MariaDB or MySQL")
    class OnMariaDb extends OnServer {
        OnMariaDb() {
            super(TestDatabase.MARIADB);
        }
    }

    abstract static class OnServer extends EarlierVersionRules {
        private final TestSource source;

        OnServer(TestDatabase product) {
            source = new TestSource(database(product));
        }

        @Override
        protected EarlierProgram earlier() throws SQLException {
            return new EarlierProgram(source, 7);
        }

        @Override
        protected LockStore present() {
            return builder(source.url()).open();
        }

        @Override
        protected long number(String query) throws SQLException {
            return Long.parseLong(source.text(query));
        }

        @Override
        protected void keepHouse(LockStore ofPresent) {
            assertThat(((JdbcStore) ofPresent).housekeeping().run(IdlePolicy.USUAL))
                    .isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("A present program that may not add tables works without messages and runs, until they are there")
    void withoutAdditions(TestDatabase product) throws Exception {
        String url = database(product);
        String user = Grants.newUser();
        if (product == TestDatabase.POSTGRES) {
            // Nothing new from version 15 on.
            Grants.run(url, List.of("REVOKE CREATE ON SCHEMA public FROM PUBLIC"));
        }
        List<String> grants = Grants.of(url, "leases", user, "holdfast_").statements();
        Grants.run(
                url,
                grants.stream()
                        .filter(one -> !one.matches("(?s).*(_annotation|_run).*"))
                        .toList());
        List<Holdfast> clients = new ArrayList<>();
        for (Initialize initialize : Initialize.values()) {
            JdbcStore store =
                    builder(Grants.asUser(url, user)).initialize(initialize).open();
            assertThat(store.traits().has(Feature.ANNOTATIONS)).isFalse();
            assertThat(store.traits().has(Feature.RUNS)).isFalse();
            assertThat(store.housekeeping().run(IdlePolicy.USUAL)).isTrue();
            clients.add(Holdfast.builder(store).build());
        }
        Holdfast limited = clients.get(0);
        worksWithoutAdditions(limited);

        Holdfast full = Holdfast.builder(builder(url).open()).build();
        clients.add(full);
        Hold annotated = full.lock("order").acquire(AcquireOptions.defaults().withMessage("release 4.2"));
        assertThat(limited.inspect("order").orElseThrow().holders().get(0).message())
                .isEmpty();
        assertThat(limited.forceRelease("order", annotated.fencingToken())).isTrue();
        assertThat(full.inspect("order")).isEmpty();
        assertThat(Contention.of(clients, 2, 10, "a", "b")).isEqualTo(80);
        clients.forEach(Holdfast::close);
    }

    private static void worksWithoutAdditions(Holdfast limited) throws Exception {
        try (Hold hold = limited.lock("order").acquire(AcquireOptions.defaults().withMessage("release 4.2"))) {
            assertThat(hold.isHeld()).isTrue();
            assertThat(limited.inspect("order").orElseThrow().holders().get(0).message())
                    .isEmpty();
        }
        assertThat(limited.task("report")
                        .runIfDue(TaskOptions.atMost(Duration.ofMinutes(1)), hold -> {})
                        .hasRun())
                .isTrue();
        assertThatThrownBy(() -> limited.runs("report"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContainingAll("have version 1.0", "-leases-1.1.sql", "grants");
    }
}
