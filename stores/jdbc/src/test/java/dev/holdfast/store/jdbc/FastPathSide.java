package dev.holdfast.store.jdbc;

import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Batcher;
import dev.holdfast.store.jdbc.server.ConnectionOrigin;
import dev.holdfast.store.jdbc.server.FailoverDetector;
import dev.holdfast.store.jdbc.server.Product;
import dev.holdfast.store.jdbc.server.ServerConnections;
import dev.holdfast.store.jdbc.server.ServerFastPath;
import dev.holdfast.store.jdbc.server.ServerLane;
import dev.holdfast.store.ledger.LedgerTransaction.Notification;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * One lane with its own tables and clock, with the fast path or without. Commands that are submitted together are one
 * batch. For one thread.
 */
final class FastPathSide implements AutoCloseable {

    private static final String CLOCK = "(SELECT micros FROM holdfast_clock)";

    /** The columns of each table that define its state; without an inline grant, its other columns are ignored. */
    private static final List<String> STATES = List.of(
            "SELECT name, spec, capacity, last_token, session, CASE session WHEN 0 THEN 0 ELSE claim END,"
                    + " CASE session WHEN 0 THEN 0 ELSE weight END, CASE session WHEN 0 THEN 0 ELSE first_token END,"
                    + " CASE session WHEN 0 THEN 0 ELSE end_token END, CASE session WHEN 0 THEN 0 ELSE ends END,"
                    + " CASE session WHEN 0 THEN 0 ELSE seq END, grants, shared, waiters"
                    + " FROM %sresource WHERE session <> 0 OR grants <> 0 OR waiters <> 0 ORDER BY name",
            "SELECT name, granted, session, claim, binding, wanted, weight, ends, seq, first_token, end_token"
                    + " FROM %sclaim ORDER BY name, granted, place",
            "SELECT id, client, ttl, epoch, deadline FROM %ssession ORDER BY id");

    private final Connection tables;
    private final String prefix;
    private final ServerConnections connections;
    private final Batcher batcher;
    private final Queue<Runnable> trips = new ArrayDeque<>();
    private final List<Notification> notifications = new ArrayList<>();

    /**
     * Creates the tables and the lane.
     *
     * @param rewriting changes the statements that are sent to the server
     */
    FastPathSide(String url, String prefix, boolean isFast, UnaryOperator<String> rewriting) throws SQLException {
        TestSource source = new TestSource(url);
        this.tables = source.getConnection();
        this.prefix = prefix;
        JdbcStore.builder(source)
                .tablePrefix(prefix)
                .initialize(JdbcStore.Initialize.ALWAYS)
                .open()
                .close();
        execute("CREATE TABLE " + prefix + "clock (micros BIGINT NOT NULL)");
        execute("INSERT INTO " + prefix + "clock VALUES (0)");
        connections = new ServerConnections(rewriting(source, rewriting), ConnectionOrigin.OWN);
        Connection first = connections.get(ServerConnections.Use.LOCKS);
        Product product = Products.of(first, CLOCK, prefix);
        SqlTemplates templates = new SqlTemplates(Product.TEXTS, "", prefix, product.quote());
        connections.know(product, new FailoverDetector(product, signal -> {}));
        connections.rest(ServerConnections.Use.LOCKS, new StatementCache(templates));
        ServerLane lane = new ServerLane(
                isFast ? product : withoutFastPath(product), templates, connections, 1, notifications::addAll);
        batcher = new Batcher(1, (command, lanes) -> 0, 64, false, trips::add, lane);
    }

    /** A source that changes its statements. */
    private static DataSource rewriting(TestSource source, UnaryOperator<String> change) {
        return new TestSource(source.url()) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection real = super.getConnection();
                return proxy(Connection.class, real, (name, args) -> {
                    if (name.equals("prepareStatement") && args[0] instanceof String sql) {
                        args[0] = change.apply(sql);
                    }
                    return null;
                });
            }
        };
    }

    private static Product withoutFastPath(Product product) {
        return proxy(Product.class, product, (name, args) -> name.equals("fastPath") ? new NoFastPath() : null);
    }

    /** Answers a call in place of the real object; null if that should answer itself. */
    private interface Answering {
        @Nullable
        Object answer(String method, Object[] args);
    }

    private static <T> T proxy(Class<T> type, T real, Answering answering) {
        Object proxy = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            Object answer = answering.answer(method.getName(), args == null ? new Object[0] : args);
            try {
                return answer == null ? method.invoke(real, args) : answer;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
        return type.cast(proxy);
    }

    /** Leaves everything to the ledger. */
    private static final class NoFastPath extends ServerFastPath {
        @Override
        public boolean waitsForRows() {
            return false;
        }

        @Override
        public boolean isOneStatement(List<Command.Release> releases, List<Command.Acquire> acquires) {
            return true;
        }

        @Override
        public List<@Nullable Reply> carryOut(
                StatementCache statements, List<Command.Release> releases, List<Command.Acquire> acquires) {
            return Arrays.asList(new @Nullable Reply[releases.size() + acquires.size()]);
        }

        @Override
        public List<@Nullable Reply> takeUnused(StatementCache statements, List<Command.Acquire> acquires) {
            return Arrays.asList(new @Nullable Reply[acquires.size()]);
        }
    }

    /** Starts again, at a time, with these sessions: number, epoch and deadline of each. */
    void reset(long micros, List<long[]> sessions) throws SQLException {
        for (String table : List.of("session", "resource", "claim", "latch", "count")) {
            execute("DELETE FROM " + prefix + table);
        }
        execute("UPDATE " + prefix + "meta SET token_floor = 0");
        execute("UPDATE " + prefix + "clock SET micros = " + micros);
        for (long[] session : sessions) {
            execute("INSERT INTO " + prefix + "session (id, client, ttl, label, epoch, deadline) VALUES (" + session[0]
                    + ", 1, 60000000, '', " + session[1] + ", " + session[2] + ")");
        }
        notifications.clear();
    }

    void advance(long micros) throws SQLException {
        execute("UPDATE " + prefix + "clock SET micros = micros + " + micros);
    }

    /** Executes commands as one batch; returns their replies or failures. */
    List<Object> carryOut(List<Command> commands) {
        List<CompletableFuture<Reply>> answers = commands.stream()
                .map(command -> batcher.submit(command, CallerMode.ASYNC).toCompletableFuture())
                .toList();
        for (Runnable trip = trips.poll(); trip != null; trip = trips.poll()) {
            trip.run();
        }
        return answers.stream()
                .<Object>map(answer -> answer.handle((reply, failure) -> reply != null
                                ? reply
                                : failure instanceof StoreException known
                                        ? known.reason() + " " + known.effect()
                                        : failure)
                        .join())
                .toList();
    }

    /** The content of the tables, and the notifications for this client since the last call. */
    List<String> state() throws SQLException {
        List<String> state = new ArrayList<>();
        for (String query : STATES) {
            state.addAll(rows(query.formatted(prefix)));
        }
        notifications.forEach(one -> state.add(one.toString()));
        notifications.clear();
        return state;
    }

    private List<String> rows(String query) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Statement statement = tables.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            while (row.next()) {
                StringJoiner columns = new StringJoiner(", ");
                for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                    columns.add(row.getString(i));
                }
                rows.add(columns.toString());
            }
        }
        return rows;
    }

    private void execute(String sql) throws SQLException {
        TestSource.execute(tables, sql);
    }

    @Override
    public void close() throws SQLException {
        batcher.close();
        connections.close();
        tables.close();
    }
}
