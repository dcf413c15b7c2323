package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.store.ledger.runtime.NamedThreadFactory;
import dev.holdfast.store.ledger.table.SqlTemplates;
import java.sql.SQLException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.sql.DataSource;

/** Receives notifications of grants that other clients made to this one. */
public interface NotificationListener extends AutoCloseable {

    /**
     * What a listener needs.
     *
     * @param source lends its connection
     * @param client the number of this client
     * @param failovers checks each new connection
     * @param receiver of the signals
     */
    record Settings(
            DataSource source,
            SqlTemplates templates,
            NamedThreadFactory threads,
            long client,
            FailoverDetector failovers,
            Consumer<Signal> receiver) {}

    /** Starts listening. */
    void start() throws SQLException;

    /** Sends a command and observes the reply. */
    default CompletionStage<Reply> follow(Command command, Supplier<CompletionStage<Reply>> sending) {
        return sending.get();
    }

    /** Replaces the connection, because its server may no longer be the primary. */
    void reconnect();

    @Override
    void close();
}
