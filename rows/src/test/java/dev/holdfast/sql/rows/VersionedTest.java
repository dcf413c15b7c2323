package dev.holdfast.sql.rows;

import static dev.holdfast.servers.sql.TestDatabase.newName;
import static dev.holdfast.servers.sql.TestDatabase.newTable;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import java.io.IOException;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

@ParameterizedClass
@EnumSource(TestDatabase.class)
@DisplayName("An optimistic version")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class VersionedTest extends TwoTransactions {

    private final String name = newName();
    private final String table = newTable();
    private final TableRow row = TableRow.of(table, "id", 1);
    private final Versioned theirs = Versioned.row(row, "version");
    private final Versioned named = Versioned.named(name);

    @BeforeEach
    void createTable() throws SQLException {
        source.execute(
                "CREATE TABLE " + table + " (id INT PRIMARY KEY, n INT NOT NULL, version BIGINT NOT NULL,"
                        + " nonce BIGINT NOT NULL)",
                "INSERT INTO " + table + " VALUES (1, 0, 5, 0)");
    }

    private void add(Connection connection) throws SQLException {
        int n = Integer.parseInt(TestSource.text(connection, "SELECT n FROM " + table));
        TestSource.execute(connection, "UPDATE " + table + " SET n = " + (n + 1));
    }

    @Test
    @DisplayName("loses no update, however many make it, of a name or of a row")
    @Tag("O1")
    void noUpdateIsLost() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        Versioned patient = named.withAttempts(10_000);
        Versioned patientRow = theirs.withAttempts(10_000);
        Meanwhile.all(4, () -> {
            for (int i = 0; i < 10; i++) {
                Versioned one = i % 2 == 0 ? patient : patientRow;
                // Both are advanced, so that each detects the other.
                one.update(source, (connection, version) -> {
                    runs.incrementAndGet();
                    Versioned other = one == patient ? patientRow : patient;
                    other.update(connection, (same, its) -> {
                        add(same);
                        return true;
                    });
                    return true;
                });
            }
            return true;
        });
        assertThat(source.text("SELECT n FROM " + table)).isEqualTo("40");
        assertThat(source.text("SELECT version FROM " + table)).isEqualTo("45");
        assertThat(runs.get()).isGreaterThanOrEqualTo(40);
        assertThat(named.read(alice).number()).isEqualTo(40);
    }

    @Test
    @DisplayName("tells which version was expected and which is there")
    @Tag("O2")
    void tellsBothVersions() throws SQLException {
        conflict(theirs, 5);
        conflict(named, 0);
        conflict(named, 1);
        conflict(theirs.withNonce("nonce"), 6);
    }

    private void conflict(Versioned versioned, long present) throws SQLException {
        RowVersion seen = versioned.read(alice);
        assertThat(seen.number()).isEqualTo(present);
        alice.commit();
        bob.commit();
        RowVersion next = versioned.advance(bob, versioned.read(bob));
        bob.commit();
        assertThat(next.number()).isEqualTo(present + 1);
        assertThatThrownBy(() -> versioned.advance(alice, seen))
                .isInstanceOfSatisfying(VersionConflictException.class, e -> {
                    assertThat(e.expected()).isEqualTo(seen);
                    assertThat(e.found()).contains(next);
                })
                .hasMessageContaining("version " + seen + " was expected")
                .hasMessageContaining("it has version " + next);
        alice.rollback();
    }

    @Test
    @DisplayName("is found out to be another also where the number came a second time")
    @Tag("O3")
    void aNumberThatComesTwiceIsAnother() throws SQLException {
        RowVersion first = named.advance(alice, named.read(alice));
        alice.commit();
        // A fail-over has lost that, and another client was next.
        source.execute("DELETE FROM holdfast_version");
        RowVersion second = named.advance(bob, named.read(bob));
        bob.commit();
        assertThat(second.number()).isEqualTo(first.number());
        assertThatThrownBy(() -> named.advance(alice, first)).isInstanceOf(VersionConflictException.class);
        alice.rollback();

        Versioned careful = theirs.withNonce("nonce");
        RowVersion seen = careful.advance(alice, careful.read(alice));
        alice.commit();
        source.execute("UPDATE " + table + " SET nonce = nonce + 1");
        assertThatThrownBy(() -> careful.advance(alice, seen)).isInstanceOf(VersionConflictException.class);
        assertThatThrownBy(() -> named.withNonce("nonce")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("is tried a bounded number of times in transactions of our own, each undone if it was in vain")
    @Tag("O4")
    void attemptsAreBounded() throws SQLException {
        AtomicInteger runs = new AtomicInteger();
        assertThatThrownBy(() -> theirs.withAttempts(3).update(source, (connection, version) -> {
                    runs.incrementAndGet();
                    connection.commit(); // lets the other one write on SQLite, too
                    source.execute("UPDATE " + table + " SET version = version + 1");
                    TestSource.execute(connection, "UPDATE " + table + " SET n = 99");
                    return true;
                }))
                .isInstanceOf(VersionConflictException.class);
        assertThat(runs).hasValue(3);
        assertThat(source.text("SELECT n FROM " + table)).isEqualTo("0");

        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> theirs.update(source, (connection, version) -> {
                    runs.incrementAndGet();
                    connection.commit();
                    source.execute("UPDATE " + table + " SET version = version + 1");
                    return true;
                }))
                .isInstanceOf(VersionConflictException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(runs).hasValue(4);
        assertThatIllegalArgumentException().isThrownBy(() -> theirs.withAttempts(0));
    }

    @Test
    @DisplayName("is tried once in a transaction of the caller's, which is the caller's to end")
    @Tag("O4")
    void theCallersTransactionIsTheirs() throws SQLException {
        AtomicInteger runs = new AtomicInteger();
        long seen = theirs.update(alice, (connection, version) -> {
            add(connection);
            return version.number();
        });
        assertThat(seen).isEqualTo(5);
        assertThat(theirs.read(bob).number()).isEqualTo(5);
        bob.commit();
        alice.commit();
        assertThatThrownBy(() -> theirs.update(bob, (connection, version) -> {
                    runs.incrementAndGet();
                    connection.commit();
                    source.execute("UPDATE " + table + " SET version = version + 1");
                    return true;
                }))
                .isInstanceOf(VersionConflictException.class);
        assertThat(runs).hasValue(1);
        bob.rollback();
        assertThat(theirs.read(bob).number()).isEqualTo(7);
        bob.setAutoCommit(true);
        assertThatThrownBy(() -> theirs.read(bob)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> theirs.advance(bob, new RowVersion(7, 0))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("undoes work that fails, with its own failure, and gives connections back as they were")
    @Tag("O4")
    void workMayFail() throws Exception {
        assertThatThrownBy(() -> theirs.update(source, (connection, version) -> {
                    add(connection);
                    throw new IOException("no paper");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("no paper")
                .hasNoSuppressedExceptions();
        try (TestSource.PoolOfOne pool = new TestSource.PoolOfOne(source.url())) {
            Meanwhile.all(
                    3,
                    () -> theirs.withAttempts(1_000).update(pool, (connection, version) -> {
                        add(connection);
                        return true;
                    }));
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isFalse();
            }
        }
        assertThat(source.text("SELECT n FROM " + table)).isEqualTo("3");
    }

    @Test
    @DisplayName("is tried again where a framework wraps the conflict in an exception of its own")
    @Tag("O4")
    void aWrappedConflictIsTriedAgain() throws SQLException {
        AtomicInteger runs = new AtomicInteger();
        int result = theirs.update(source, (connection, version) -> {
            add(connection);
            if (runs.incrementAndGet() < 3) {
                throw new IllegalStateException("by a framework", conflict());
            }
            return 7;
        });
        assertThat(result).isEqualTo(7);
        assertThat(runs).hasValue(3);
        assertThat(source.text("SELECT n FROM " + table)).isEqualTo("1");

        assertThatThrownBy(() -> theirs.withAttempts(2).update(source, (connection, version) -> {
                    runs.incrementAndGet();
                    throw new IllegalStateException("by a framework", conflict());
                }))
                .isInstanceOf(TransactionConflictException.class)
                .hasRootCauseInstanceOf(SQLException.class);
        assertThat(runs).hasValue(5);

        assertThatThrownBy(() -> theirs.update(source, (connection, version) -> {
                    runs.incrementAndGet();
                    throw new IllegalStateException("by a framework", new SQLException("no paper", "22000"));
                }))
                .hasMessage("by a framework");
        assertThat(runs).hasValue(6);
    }

    @Test
    @DisplayName("is tried again however the conflict is wrapped, and not where only a cleanup met one")
    @Tag("O4")
    void anyWrappingIsTriedAgain() throws Exception {
        SQLException batch = new BatchUpdateException("a batch", new int[0]);
        batch.setNextException(conflict());
        SQLException circle = new SQLException("first", "22000");
        SQLException second = new SQLException("second", "22000", circle);
        circle.setNextException(second);
        second.setNextException(conflict());
        SQLException followed = new SQLException("no paper", "22000");
        followed.addSuppressed(conflict());
        RowVersion version = new RowVersion(1, 0);
        List<Exception> conflicts = List.of(
                new IOException("checked", conflict()),
                batch,
                new IOException("checked", batch),
                circle,
                followed,
                new IOException("checked", new VersionConflictException("row", "database", version, version, null)));
        for (Exception one : conflicts) {
            AtomicInteger runs = new AtomicInteger();
            int result = theirs.<Integer, Exception>update(source, (connection, before) -> {
                if (runs.incrementAndGet() < 3) {
                    throw one;
                }
                return 7;
            });
            assertThat(result).isEqualTo(7);
            assertThat(runs).as(one.toString()).hasValue(3);
        }

        IOException failed = new IOException("no paper");
        failed.addSuppressed(conflict());
        AtomicInteger runs = new AtomicInteger();
        assertThatThrownBy(() -> theirs.<Integer, Exception>update(source, (connection, before) -> {
                    runs.incrementAndGet();
                    throw failed;
                }))
                .isSameAs(failed);
        assertThat(runs).hasValue(1);
    }

    private SQLException conflict() {
        return switch (database) {
            case POSTGRES -> new SQLException("deadlock detected", "40P01");
            case MARIADB -> new SQLException("Deadlock found when trying to get lock", "40001", 1213);
            case SQLITE -> new SQLiteException("database is locked", SQLiteErrorCode.SQLITE_BUSY_SNAPSHOT);
        };
    }

    @Test
    @DisplayName("commits nothing where the work fails and can't be undone either")
    @Tag("O4")
    void aFailedRollbackCommitsNothing() throws SQLException {
        StatementLog broken = new StatementLog(source.url()) {
            @Override
            public Object call(Connection connection, String text, Call call) throws Throwable {
                if (text.equals("rollback")) {
                    throw new SQLException("can't roll back");
                }
                return super.call(connection, text, call);
            }
        };
        assertThatThrownBy(() -> theirs.update(broken, (connection, version) -> {
                    add(connection);
                    throw new IOException("no paper");
                }))
                .isInstanceOf(IOException.class)
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        assertThat(source.text("SELECT n FROM " + table)).isEqualTo("0");
        add(alice);
        alice.commit();
        assertThat(source.text("SELECT n FROM " + table)).isEqualTo("1");
    }

    @Test
    @DisplayName("needs a row that is there and is one")
    @Tag("O5")
    void theRowIsThere() {
        assertThatThrownBy(() ->
                        Versioned.row(TableRow.of(table, "id", 2), "version").read(alice))
                .isInstanceOf(NoSuchRowException.class);
        assertThatIllegalArgumentException().isThrownBy(() -> Versioned.row(row, "version = 1 --"));
        assertThatIllegalArgumentException().isThrownBy(() -> theirs.withNonce("a b"));
        assertThatIllegalArgumentException().isThrownBy(() -> Versioned.named(""));
    }
}
