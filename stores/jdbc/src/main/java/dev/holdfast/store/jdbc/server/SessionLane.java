package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.support.Batcher;
import dev.holdfast.spi.support.Batcher.Call;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.SQLException;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Executes commands about sessions only, on a separate connection, one statement after another, as {@link
 * ServerSessions} defines.
 */
public final class SessionLane implements Batcher.Trip {

    private static final int MOST_TRIES = 10;

    private final Product product;
    private final ServerConnections connections;
    private final ServerConnections.Use use;
    private final StatementCache statements;
    private final ServerSessions sessions;

    /** @param use which connection */
    public SessionLane(
            Product product,
            SqlTemplates templates,
            ServerConnections connections,
            ServerConnections.Use use,
            SplittableRandom random,
            long client) {
        this.product = product;
        this.connections = connections;
        this.use = use;
        this.statements = new StatementCache(templates);
        this.sessions = new ServerSessions(product, statements, random, client);
    }

    @Override
    public void make(int lane, List<Call> calls) {
        try {
            calls.forEach(this::answer);
        } finally {
            connections.rest(use, statements);
        }
    }

    private void answer(Call call) {
        for (int left = MOST_TRIES; !call.isAnswered(); left--) {
            boolean isConnected = false;
            try {
                statements.attach(connections.get(use));
                isConnected = true;
                sessions.answer(call);
            } catch (SQLException e) {
                StatementCache.logSuppressed(e);
                if (isConnected && product.isReadOnly(e)) {
                    statements.forget();
                    if (left == 0 || !connections.replace(use)) {
                        call.fail(product.translated(e, Effect.NONE));
                    }
                } else if (product.isConnectionLost(e) || !isConnected) {
                    statements.forget();
                    connections.discard(use);
                    // Retry once on another connection: this one may have been cut while idle, and these commands may
                    // arrive twice.
                    if (!isConnected || left < MOST_TRIES) {
                        call.fail(product.translated(e, isConnected ? Effect.UNKNOWN : Effect.NONE));
                    }
                } else if (!product.isBusy(e) || left == 0) {
                    statements.forget();
                    call.fail(product.translated(e, product.isBusy(e) ? Effect.NONE : Effect.UNKNOWN));
                }
            } catch (RuntimeException | Error e) {
                // As in LockTransactions.abandon.
                statements.forget();
                connections.discard(use);
                throw e;
            }
        }
    }
}
