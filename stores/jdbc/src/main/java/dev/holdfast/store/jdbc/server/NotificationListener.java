package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import java.sql.SQLException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Receives notifications of grants that other clients made to this one. */
public interface NotificationListener extends AutoCloseable {

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
