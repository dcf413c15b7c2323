package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.sql.rows.FenceGuard;
import dev.holdfast.sql.rows.RowTables;
import dev.holdfast.sql.rows.StaleTokenException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.sqlite.SQLiteDataSource;

@DisplayName("A locked method, with transactions and retries")
class TransactionsTest {

    private static final String LOCK = "ledger";

    @TempDir
    Path directory;

    private final World world = new World();

    @AfterEach
    void close() throws Exception {
        world.close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Transactions {}

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = Ordered.HIGHEST_PRECEDENCE)
    static class EarlyTransactions {}

    @Configuration(proxyBeanMethods = false)
    @EnableResilientMethods
    static class Database {
        @Bean
        JdbcTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        TransactionTemplate transactions(JdbcTransactionManager manager) {
            return new TransactionTemplate(manager);
        }

        @Bean
        JdbcTemplate jdbc(DataSource dataSource) {
            JdbcTemplate jdbc = new JdbcTemplate(dataSource);
            jdbc.execute("create table if not exists entry (id integer)");
            return jdbc;
        }
    }

    /** What happened to the lock and the data, in order. */
    static class Journal {
        final List<String> lines = new ArrayList<>();
        private final World world;
        private final DataSource another;

        Journal(World world, DataSource another) {
            this.world = world;
            this.another = another;
        }

        void add(String what) {
            Integer entries = new JdbcTemplate(another).queryForObject("select count(*) from entry", Integer.class);
            lines.add(what + ": " + (world.isFree(LOCK) ? "free" : "locked") + ", committed " + entries);
        }

        void addAtTheEnd(String what) {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    add(what + " after commit");
                }
            });
        }
    }

    static class Ledger {
        private final JdbcTemplate jdbc;
        private final Journal journal;
        private int attempts;

        Ledger(JdbcTemplate jdbc, Journal journal) {
            this.jdbc = jdbc;
            this.journal = journal;
        }

        @Locked(LOCK)
        @Transactional
        public void append() {
            jdbc.update("insert into entry values (1)");
            journal.addAtTheEnd("append");
        }

        @Locked(LOCK)
        public void appendPlain() {
            jdbc.update("insert into entry values (1)");
        }

        @Locked(name = LOCK, surroundingTransaction = SurroundingTransaction.IGNORE)
        public void appendWithoutHolding() {
            jdbc.update("insert into entry values (1)");
        }

        @Locked(name = LOCK, surroundingTransaction = SurroundingTransaction.REFUSE)
        public void appendAlone() {
            jdbc.update("insert into entry values (1)");
        }

        @Locked(name = LOCK, maxHold = "200ms", onLoss = LossReaction.THROW)
        public void appendAndReturn() {
            jdbc.update("insert into entry values (1)");
        }

        @Locked(LOCK)
        @Transactional
        public long appendGuarded() {
            jdbc.execute((Connection connection) -> guarded(connection, CurrentLocks.hold()));
            jdbc.update("insert into entry values (1)");
            return CurrentLocks.hold(LOCK).fencingToken();
        }

        private static boolean guarded(Connection connection, Hold hold) throws SQLException {
            FenceGuard.usual().check(connection, hold);
            return true;
        }

        @Retryable(maxRetries = 2, delay = 1)
        @Locked(LOCK)
        @Transactional
        public void appendAtLast() {
            long token = CurrentLocks.fencingToken();
            jdbc.update("insert into entry values (1)");
            journal.lines.add("attempt with " + token);
            if (++attempts < 3) {
                TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                    @Override
                    public void afterCompletion(int status) {
                        journal.add("rolled back");
                    }
                });
                throw new IllegalStateException("not yet");
            }
        }
    }

    private AnnotationConfigApplicationContext start(Class<?> transactions) {
        AnnotationConfigApplicationContext context =
                world.unstarted(Map.of(), transactions, Database.class, Ledger.class);
        context.register(World.Enabled.class);
        context.registerBean("holdfast", Holdfast.class, () -> Holdfast.connect(world.uri));
        context.registerBean("dataSource", DataSource.class, this::dataSource);
        context.registerBean("journal", Journal.class, () -> new Journal(world, dataSource()));
        context.refresh();
        return context;
    }

    private DataSource dataSource() {
        SQLiteDataSource source = new SQLiteDataSource();
        source.setUrl("jdbc:sqlite:" + directory.resolve("ledger.db"));
        source.setJournalMode("WAL");
        return source;
    }

    @Test
    @DisplayName("has its lock until its own transaction has committed")
    void outsideOfItsTransaction() {
        var context = start(Transactions.class);
        context.getBean(Ledger.class).append();
        Journal journal = context.getBean(Journal.class);
        journal.add("returned");
        assertThat(journal.lines)
                .containsExactly("append after commit: locked, committed 1", "returned: free, committed 1");
    }

    @Test
    @DisplayName("has its lock until the transaction of its caller has committed")
    void heldForTheCaller() {
        var context = start(Transactions.class);
        Journal journal = context.getBean(Journal.class);
        context.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
            context.getBean(Ledger.class).appendPlain();
            journal.add("returned");
            context.getBean(Ledger.class).appendPlain();
            journal.addAtTheEnd("caller");
        });
        journal.add("over");
        assertThat(journal.lines)
                .containsExactly(
                        "returned: locked, committed 0",
                        "caller after commit: locked, committed 2",
                        "over: free, committed 2");
    }

    @Test
    @DisplayName("gives it back when the transaction of its caller rolls back")
    void releasedAfterRollback() {
        var context = start(Transactions.class);
        context.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
            context.getBean(Ledger.class).appendPlain();
            status.setRollbackOnly();
        });
        context.getBean(Journal.class).add("over");
        assertThat(context.getBean(Journal.class).lines).containsExactly("over: free, committed 0");
    }

    @Test
    @DisplayName("rolls the transaction of its caller back if the lock is lost before the commit")
    void lostBeforeTheCommit() {
        var context = start(Transactions.class);
        assertThatThrownBy(() -> context.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
                    context.getBean(Ledger.class).appendAndReturn();
                    awaitFree();
                }))
                .isInstanceOf(LockLostException.class);
        context.getBean(Journal.class).add("over");
        assertThat(context.getBean(Journal.class).lines).containsExactly("over: free, committed 0");
    }

    private void awaitFree() {
        await().until(() -> world.isFree(LOCK));
    }

    @Test
    @DisplayName("gives it back at its own end, or refuses the call, where it says so")
    void otherReactions() {
        var context = start(Transactions.class);
        Journal journal = context.getBean(Journal.class);
        context.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
            context.getBean(Ledger.class).appendWithoutHolding();
            journal.add("returned");
            assertThatIllegalStateException()
                    .isThrownBy(() -> context.getBean(Ledger.class).appendAlone())
                    .withMessageContaining("Call it outside the transaction");
        });
        context.getBean(Ledger.class).appendAlone();
        assertThat(journal.lines).containsExactly("returned: free, committed 0");
    }

    @Test
    @DisplayName("has a lock for each attempt, and none between them")
    void insideOfRetries() {
        var context = start(Transactions.class);
        Journal journal = context.getBean(Journal.class);
        context.getBean(Ledger.class).appendAtLast();
        journal.add("over");
        assertThat(journal.lines).hasSize(6);
        assertThat(journal.lines.get(1)).isEqualTo("rolled back: locked, committed 0");
        assertThat(journal.lines.get(5)).isEqualTo("over: free, committed 1");
        assertThat(List.of(journal.lines.get(0), journal.lines.get(2), journal.lines.get(4)))
                .doesNotHaveDuplicates()
                .allMatch(line -> line.startsWith("attempt with "));
    }

    @Test
    @DisplayName("is refused if its own transaction would begin before its lock")
    void transactionOutside() {
        assertThatThrownBy(() -> start(EarlyTransactions.class))
                .hasStackTraceContaining("Give @EnableHoldfast a smaller order");
        assertThatCode(() -> start(Transactions.class)).doesNotThrowAnyException();
    }

    @Test
    @DisplayName("shows its hold to a fence guard, in the transaction")
    void guarded() throws Exception {
        RowTables.usual().createIfMissing(dataSource());
        AnnotationConfigApplicationContext context = start(Transactions.class);
        Ledger ledger = context.getBean(Ledger.class);
        JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
        long token = ledger.appendGuarded();
        assertThat(jdbc.queryForObject("select token from holdfast_fence", Long.class))
                .isEqualTo(token);

        long later = token + 1_000_000_000_000L;
        jdbc.update("update holdfast_fence set token = ?", later);
        assertThatThrownBy(ledger::appendGuarded).isInstanceOf(StaleTokenException.class);
        assertThat(jdbc.queryForObject("select count(*) from entry", Integer.class))
                .isEqualTo(1);
    }
}
