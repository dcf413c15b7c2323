package dev.holdfast.sql.rows;

import static dev.holdfast.servers.sql.TestDatabase.newName;
import static dev.holdfast.servers.sql.TestDatabase.newTable;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(TestDatabase.class)
@DisplayName("A guard")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class FenceGuardTest extends TwoTransactions {

    private final FenceGuard guard = FenceGuard.usual().withMaxWait(Duration.ofSeconds(30));
    private final String name = newName();

    @Test
    @DisplayName("refuses a token below the greatest that it was shown, and an equal one of another hold")
    @Tag("C11")
    void refusesStaleTokens() throws SQLException {
        guard.check(alice, name, 7, "a");
        guard.check(alice, name, 7, "a");
        alice.commit();
        guard.check(alice, name, 7, "a");
        alice.commit();
        guard.check(bob, name, 9, "b");
        bob.commit();

        assertThatThrownBy(() -> guard.check(alice, name, 8, "a"))
                .isInstanceOfSatisfying(StaleTokenException.class, e -> {
                    assertThat(e.token()).isEqualTo(8);
                    assertThat(e.newest()).isEqualTo(9);
                    assertThat(e.resource()).isEqualTo(name);
                })
                .hasMessageContaining("token 8")
                .hasMessageContaining("token 9");
        assertThatThrownBy(() -> guard.check(alice, name, 9, "a"))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("the same token");
        assertThatThrownBy(() -> guard.check(alice, name, 9, "B")).isInstanceOf(StaleTokenException.class);
        alice.rollback();
        guard.check(bob, name, 9, "b");
        bob.commit();
        guard.check(alice, newName(), 1, "a");
        guard.check(alice, name, Long.MAX_VALUE, "a");
    }

    @Test
    @DisplayName("remembers a token if and only if what was written with it is committed")
    @Tag("F1")
    void checkAndWriteAreOne() throws SQLException {
        guard.check(alice, name, 9, "a");
        alice.rollback();
        guard.check(alice, name, 5, "b");
        alice.commit();
        assertThatThrownBy(() -> guard.check(bob, name, 4, "c")).isInstanceOf(StaleTokenException.class);
    }

    @Test
    @DisplayName("lets writers of one resource through one after another, and none that came before the last")
    @Tag("F2")
    void writersFollowOneAnother() throws Exception {
        String table = newTable();
        source.execute("CREATE TABLE " + table + " (token BIGINT NOT NULL)", "INSERT INTO " + table + " VALUES (0)");
        AtomicLong tokens = new AtomicLong();
        AtomicLong refused = new AtomicLong();
        Meanwhile.all(4, () -> {
            try (Connection connection = source.begin()) {
                for (int i = 0; i < 20; i++) {
                    long token = tokens.incrementAndGet();
                    try {
                        guard.check(connection, name, token, "h" + token);
                        long last = Long.parseLong(TestSource.text(connection, "SELECT token FROM " + table));
                        assertThat(last).isLessThan(token);
                        TestSource.execute(connection, "UPDATE " + table + " SET token = " + token);
                        connection.commit();
                    } catch (StaleTokenException e) {
                        refused.incrementAndGet();
                        connection.rollback();
                    }
                }
            }
            return true;
        });
        assertThat(source.text("SELECT token FROM " + table)).isEqualTo("80");
        assertThat(refused.get()).isLessThan(80);
    }

    @Test
    @DisplayName("makes who comes wait for who writes, for no longer than its bound")
    @Tag("F2")
    void theWaitIsBounded() throws SQLException {
        guard.check(alice, name, 1, "a");
        assertThatThrownBy(() -> guard.withMaxWait(Duration.ofMillis(60)).check(bob, name, 2, "b"))
                .isInstanceOf(RowLockTimeoutException.class);
        CompletableFuture<Void> waiting = Meanwhile.run(() -> {
            guard.check(bob, name, 2, "b");
            bob.commit();
            return null;
        });
        alice.commit();
        waiting.join();
        assertThatThrownBy(() -> guard.check(alice, name, 1, "a")).isInstanceOf(StaleTokenException.class);
    }

    @Test
    @DisplayName("refuses what is no token, no id and no name, and where there is no transaction")
    @Tag("F3")
    void nonsenseIsRefused() throws SQLException {
        for (long bad : List.of(0L, -1L, Long.MIN_VALUE)) {
            assertThatIllegalArgumentException().isThrownBy(() -> guard.check(alice, name, bad, "a"));
        }
        for (String bad : List.of("", "é", "a\n", "x".repeat(301))) {
            assertThatIllegalArgumentException().isThrownBy(() -> guard.check(alice, name, 1, bad));
        }
        assertThatIllegalArgumentException().isThrownBy(() -> guard.check(alice, "", 1, "a"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> guard.withHighestToken(1_000).check(alice, name, 1_001, "a"))
                .withMessageContaining("1000");
        guard.check(alice, name, 1, "x".repeat(300));
        alice.setAutoCommit(true);
        assertThatThrownBy(() -> guard.check(alice, name, 2, "a")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("knows holds by their tokens and ids, and asks a hold that is lost for nothing")
    @Tag("F3")
    void checksHolds(@TempDir Path directory) throws Exception {
        try (Holdfast holdfast = Holdfast.connect("sqlite:" + directory.resolve("locks.db"));
                Connection connection = source.begin()) {
            Hold first = holdfast.lock(name).acquire();
            guard.check(connection, first);
            guard.check(connection, name + "/data", first);
            connection.commit();
            long old = first.fencingToken();
            String id = first.holdId();
            first.close();
            try (Hold second = holdfast.lock(name).acquire()) {
                guard.check(connection, second);
                connection.commit();
            }
            assertThatThrownBy(() -> guard.check(connection, first)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> guard.check(connection, name, old, id)).isInstanceOf(StaleTokenException.class);
            connection.rollback();
            guard.check(connection, name + "/data", old, id);
        } catch (LockLostException e) {
            throw new AssertionError(e);
        }
    }
}
