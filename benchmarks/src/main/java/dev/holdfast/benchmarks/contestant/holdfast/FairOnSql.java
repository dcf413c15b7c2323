package dev.holdfast.benchmarks.contestant.holdfast;

import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.spi.LockStore;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** A client in strict order, and a row that nobody else wants, to measure what a commit takes meanwhile. */
public record FairOnSql(Holdfasts.HoldfastClient client, Connection connection, PreparedStatement update)
        implements Contestant.Client {

    /** What a ping is, for the page. */
    public static final String PING = "an `UPDATE` of one small row, which is committed by itself";

    static Contestant.Client connect(Holdfasts holdfast, Servers.Kind kind, Path place) {
        Database database = Database.at(kind, place);
        database.once("ping", () -> database.execute("CREATE TABLE ping (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)"));
        LockStore store = holdfast.open(place);
        Holdfast client = Holdfast.builder(store).cohortBudget(Duration.ZERO).build();
        long id = ProcessHandle.current().pid();
        try {
            database.once("ping-" + id, () -> database.execute("INSERT INTO ping VALUES (" + id + ", 0)"));
            Connection connection = database.connect();
            return new FairOnSql(
                    new Holdfasts.HoldfastClient(store, client),
                    connection,
                    connection.prepareStatement("UPDATE ping SET n = n + 1 WHERE id = " + id));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Contestant.Mutex mutex(String name) {
        return client.mutex(name);
    }

    @Override
    public Optional<Runnable> ping() {
        return Optional.of(() -> {
            try {
                update.executeUpdate();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    @Override
    public void close() {
        client.close();
        try {
            connection.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
