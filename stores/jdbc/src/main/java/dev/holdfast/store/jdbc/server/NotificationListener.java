package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import java.sql.SQLException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Listener for grants that other clients made to this one. */
public interface NotificationListener extends AutoCloseable {

    /** Begins to listen. */
    void start() throws SQLException;

    /** Sends a command, and sees what is answered. */
    default CompletionStage<Reply> follow(Command command, Supplier<CompletionStage<Reply>> sending) {
        return sending.get();
    }

    /** The connection may be to a server that is the primary no more: it is made anew. */
    void reconnect();

    @Override
    void close();
}
