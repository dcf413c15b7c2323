package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.Permits;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.sql.GoodHold;
import dev.holdfast.servers.sql.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A client whose rows somebody handles")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class HandledClientsTest {

    private static final Duration TTL = Duration.ofSeconds(2);
    private static final Duration LONG = Duration.ofSeconds(30);

    private static Holdfast client(HandledTables tables, Duration ttl) {
        return Holdfast.builder(tables.open()).sessionTtl(ttl).build();
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    /** As in the manual. */
    private static String bytes(TestDatabase database, String name) {
        return switch (database) {
            case POSTGRES -> "convert_to('" + name + "', 'UTF8')";
            case MARIADB -> "CAST('" + name + "' AS BINARY)";
            case SQLITE -> "CAST('" + name + "' AS BLOB)";
        };
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("is told that it has lost what was deleted, and who waits has it next, with a greater token")
    void deletedHolder(TestDatabase database) throws Exception {
        HandledTables tables = new HandledTables(database);
        try (Holdfast one = client(tables, LONG);
                Holdfast other = client(tables, TTL);
                Holdfast third = client(tables, TTL)) {
            Permits first = one.semaphore("a", 10).acquire(1);
            // On a machine that is paused for longer than the lease, the hold is lost before it can be deleted.
            Permits second = other.semaphore("a", 10).acquire(9);
            CompletableFuture<Loss> loss = new CompletableFuture<>();
            second.onLost(loss::complete);
            CompletableFuture<Permits> waiting = third.semaphore("a", 10)
                    .acquireAsync(9, AcquireOptions.defaults())
                    .toCompletableFuture();
            tables.run("DELETE FROM holdfast_claim WHERE granted = 1");
            assertThat(get(loss).cause()).isIn(Loss.Cause.REMOVED, Loss.Cause.EXPIRED);
            try (Permits next = get(waiting)) {
                assertThat(next.isHeld()
                                || third.semaphore("a", 10).tryAcquire(9).isPresent())
                        .isTrue();
            } catch (LockLostException tooSlow) {
                // As above.
            }
            first.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("goes on waiting when the row by which it waits is deleted, and has its turn")
    void deletedWaiter(TestDatabase database) throws Exception {
        HandledTables tables = new HandledTables(database);
        try (Holdfast one = client(tables, LONG);
                Holdfast other = client(tables, TTL)) {
            Hold hold = one.lock("a").acquire();
            CompletableFuture<Hold> waiting = other.lock("a").acquireAsync().toCompletableFuture();
            Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> tables.count("claim") == 1);
            tables.run("DELETE FROM holdfast_claim");
            Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> tables.count("claim") == 1);
            hold.close();
            GoodHold.end(get(waiting));
        }
    }

    @ParameterizedTest
    @EnumSource
    @MostlyWaits
    @DisplayName("waits and is told where a person has to act, others go on; and the name is free as the manual says")
    void damaged(TestDatabase database) throws Exception {
        HandledTables tables = new HandledTables(database);
        try (Holdfast one = client(tables, LONG);
                Holdfast other = client(tables, LONG)) {
            Hold bad = one.lock("bad").acquire();
            Hold good = one.lock("good").acquire();
            CompletableFuture<Hold> badly = other.lock("bad").acquireAsync().toCompletableFuture();
            CompletableFuture<Hold> well = other.lock("good").acquireAsync().toCompletableFuture();
            Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> tables.count("claim") == 2);
            long token = bad.fencingToken();
            tables.run("UPDATE holdfast_resource SET capacity = 0 WHERE name = " + bytes(database, "bad"));

            assertThatThrownBy(() -> get(badly))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("'bad'")
                    .hasMessageContaining("docs/operations.md");
            assertThat(catchThrowable(bad::close))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("'bad'")
                    .hasMessageContaining("docs/operations.md");
            assertThatThrownBy(() -> other.lock("bad").tryAcquire())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("docs/operations.md");
            assertThat(well).isNotDone();
            good.close();
            get(well).close();

            for (String table : List.of("claim", "count", "latch", "resource")) {
                tables.run("DELETE FROM holdfast_" + table + " WHERE name = " + bytes(database, "bad"));
            }
            try (Hold next = other.lock("bad").acquire(Duration.ofSeconds(60))) {
                assertThat(next.fencingToken()).isGreaterThan(token);
            }
        }
    }
}
