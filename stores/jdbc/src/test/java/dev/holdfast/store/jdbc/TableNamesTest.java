package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.sql.Grants;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import dev.holdfast.store.ledger.table.SqlTemplates;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("The names of the tables")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class TableNamesTest {

    private static final String USUAL = "holdfast_";

    /**
     * The default prefix, another one, and prefixes that contain the default one or the name of a table or an index.
     */
    private static final List<String> PREFIXES =
            List.of(USUAL, "shop_", "my_holdfast_", "holdfast_claim_", "index_holdfast_");

    private static final int CLIENTS = 20;

    static Stream<Arguments> combinations() {
        return Stream.of(TestDatabase.POSTGRES, TestDatabase.MARIADB)
                .flatMap(database -> Stream.of(false, true)
                        .flatMap(
                                inSchema -> PREFIXES.stream().map(prefix -> Arguments.of(database, inSchema, prefix))));
    }

    @ParameterizedTest(name = "{0}, schema: {1}, prefix: {2}")
    @MethodSource("combinations")
    @DisplayName("may be of any prefix in any schema, also where twenty clients start at once and all make them")
    void startTogether(TestDatabase database, boolean inSchema, String prefix) throws Exception {
        String url = database.newUrl();
        boolean isMaria = database == TestDatabase.MARIADB;
        // Contains the default prefix, because nothing in a schema name is a placeholder.
        String schema = inSchema ? "Of_holdfast_" + Grants.newUser() : "";
        String quoted = isMaria ? "`" + schema + "`" : "\"" + schema + "\"";
        if (inSchema) {
            new TestSource(url).execute((isMaria ? "CREATE DATABASE " : "CREATE SCHEMA ") + quoted);
        }
        try {
            List<JdbcStore> stores = new CopyOnWriteArrayList<>();
            List<Holdfast> clients = new ArrayList<>();
            try {
                openAtOnce(url, schema, prefix, stores);
                stores.forEach(store -> clients.add(Holdfast.builder(store).build()));
                clients.forEach(
                        client -> assertThat(client.semaphore("all", CLIENTS).tryAcquire(1))
                                .isPresent());
                try (Hold hold = clients.get(0).lock("a").acquire()) {
                    assertThat(hold.isHeld()).isTrue();
                    assertThat(clients.get(1).lock("a").tryLock()).isFalse();
                }
                assertThat(clients.get(1).latch("l").trySetCount(1)).isTrue();
            } finally {
                clients.forEach(Holdfast::close);
                stores.forEach(JdbcStore::close);
            }
            assertThat(tables(url, schema, isMaria))
                    .containsExactlyInAnyOrderElementsOf(Stream.of(
                                    "meta",
                                    "session",
                                    "resource",
                                    "claim",
                                    "latch",
                                    "count",
                                    "annotation",
                                    "run",
                                    "show")
                            .map(prefix::concat)
                            .toList());
        } finally {
            if (inSchema && isMaria) {
                new TestSource(url).execute("DROP DATABASE " + quoted);
            }
        }
    }

    private static void openAtOnce(String url, String schema, String prefix, List<JdbcStore> stores) throws Exception {
        CyclicBarrier start = new CyclicBarrier(CLIENTS);
        ExecutorService executor = Executors.newFixedThreadPool(CLIENTS);
        List<Future<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            JdbcStore.Builder builder = JdbcStore.builder(new DriverDataSource(url))
                    .keepsConnections()
                    .tablePrefix(prefix)
                    .initialize(i % 2 == 0 ? JdbcStore.Initialize.ALWAYS : JdbcStore.Initialize.IF_MISSING);
            if (!schema.isEmpty()) {
                builder.schema(schema);
            }
            all.add(executor.submit(() -> {
                int behind = start.await(60, TimeUnit.SECONDS);
                assertThat(behind).isLessThan(CLIENTS);
                return stores.add(builder.open());
            }));
        }
        executor.shutdown();
        assertThat(executor.awaitTermination(120, TimeUnit.SECONDS)).isTrue();
        for (Future<Boolean> one : all) {
            assertThat(one.get()).isTrue();
        }
    }

    private static List<String> tables(String url, String schema, boolean isMaria) throws SQLException {
        String here = isMaria ? "DATABASE()" : "'public'";
        String names = isMaria ? "group_concat(table_name)" : "string_agg(table_name, ',')";
        return List.of(new TestSource(url)
                .text("SELECT " + names + " FROM information_schema.tables WHERE table_schema = "
                        + (schema.isEmpty() ? here : "'" + schema + "'"))
                .split(","));
    }

    @Test
    @DisplayName("are filled in once, and nothing else that looks like one is")
    void filledInOnce() {
        String text = "CREATE INDEX IF NOT EXISTS holdfast_claim_session ON holdfast_claim (session);"
                + " SET @holdfast_wait = 1; SELECT 'holdfast_meta', other.holdfast_meta, my_holdfast_meta";
        for (String prefix : PREFIXES) {
            String expected = "CREATE INDEX IF NOT EXISTS " + prefix + "claim_session ON `S`." + prefix
                    + "claim (session); SET @holdfast_wait = 1;"
                    + " SELECT '`S`." + prefix + "meta', other.holdfast_meta, my_holdfast_meta";
            assertThat(new SqlTemplates(Map.of(), "S", prefix, "`").of(text)).isEqualTo(expected);
            assertThat(new SqlTemplates(Map.of(), prefix).of(text)).isEqualTo(expected.replace("`S`.", ""));
        }
    }
}
