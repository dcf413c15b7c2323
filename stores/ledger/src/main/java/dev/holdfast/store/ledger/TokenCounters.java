package dev.holdfast.store.ledger;

import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.ledger.table.ResourceRow;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Reserves blocks of fencing tokens, each above all earlier ones of its resource. */
final class TokenCounters {

    private final LedgerTransaction transaction;
    private final StoreContext context;

    TokenCounters(LedgerTransaction transaction, StoreContext context) {
        this.transaction = transaction;
        this.context = context;
    }

    /** Reserves the next tokens of a resource, above {@code atLeast}; null if its counter is exhausted. */
    @Nullable
    TokenBlock reserve(ResourceRow resource, long atLeast, int want) throws SQLException {
        transaction.mustWrite();
        long last = Math.max(Math.max(resource.lastToken, context.tokenFloor()), atLeast);
        if (isSpent(last)) {
            return null;
        }
        TokenBlock block = Tokens.next(last, transaction.unix(), want);
        resource.lastToken = block.last();
        resource.isDirty = true;
        context.reserved(block.last());
        return block;
    }

    boolean isSpent(ResourceRow resource) {
        return isSpent(resource.lastToken);
    }

    private boolean isSpent(long lastToken) {
        return lastToken >= TokenBlock.MAX_TOKEN || Tokens.floor(transaction.unix()) > TokenBlock.MAX_TOKEN;
    }
}
