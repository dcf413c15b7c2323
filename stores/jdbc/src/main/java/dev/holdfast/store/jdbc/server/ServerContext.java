package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.store.ledger.StoreContext;
import dev.holdfast.store.ledger.WaitCondition;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.SQLException;

/** Context of the ledger on a database server, where a transaction may change only the rows it has locked. */
final class ServerContext implements StoreContext {

    private final Product product;
    private final StatementCache statements;
    private final DatabaseClock clock = new DatabaseClock();
    private final long client;

    ServerContext(Product product, StatementCache statements, long client) {
        this.product = product;
        this.statements = statements;
        this.client = client;
    }

    @Override
    public long client() {
        return client;
    }

    @Override
    public DatabaseClock clock() {
        return clock;
    }

    @Override
    public StatementCache statements() {
        return statements;
    }

    @Override
    public boolean isAlone() {
        return false;
    }

    @Override
    public boolean joins() {
        return product.joins();
    }

    @Override
    public boolean expire(SessionRow session) throws SQLException {
        return product.expire(statements, session);
    }

    /** Unknown on a server: only the lease decides. */
    @Override
    public boolean isGone(long other) {
        return false;
    }

    @Override
    public SessionRow newcomer(OpenSession command, long now) {
        throw new IllegalStateException("Not a command on an open session: " + command);
    }

    @Override
    public void forgotten(SessionRow session) {
        // Nothing else is stored for a session.
    }

    /** Not needed: rows are durable and keep their counters. */
    @Override
    public long tokenFloor() {
        return 0;
    }

    @Override
    public void reserved(long lastToken) {
        // Not needed either.
    }

    @Override
    public void mustLast() {
        // Every commit is as durable as the server's settings make it.
    }

    @Override
    public long recheck(ClaimRef claim, WaitCondition wait) {
        return wait.ttl() / 3;
    }
}
