package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.TokenBlock;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Releases the grant that has a token by force, at all members that have it. */
final class ForcedRelease {

    private final Quorum quorum;
    private final QuorumInspection.Holder holder;
    private final CompletableFuture<Reply> future;

    /** How many members may have it: those that reported it and those that reported nothing. */
    private int possible;

    private int pending;

    private ForcedRelease(Quorum quorum, QuorumInspection.Holder holder, int silent, CompletableFuture<Reply> future) {
        this.quorum = quorum;
        this.holder = holder;
        this.possible = holder.sights.size() + silent;
        this.future = future;
    }

    static void release(Quorum quorum, Command.ForceRelease command, CompletableFuture<Reply> future) {
        String name = command.resource().value();
        QuorumInspection.holders(quorum, name, Command.Inspect.Scope.NAME, (holders, silent, failure) -> {
            if (failure != null) {
                future.completeExceptionally(failure);
                return;
            }
            for (QuorumInspection.Holder holder : holders) {
                if (holder.first.name().equals(command.resource()) && hasToken(quorum, holder, command.token())) {
                    new ForcedRelease(quorum, holder, silent, future).begin();
                    return;
                }
            }
            future.complete(new Reply.Absent());
        });
    }

    private static boolean hasToken(Quorum quorum, QuorumInspection.Holder holder, long token) {
        QuorumClaim own = QuorumInspection.own(quorum, holder);
        @Nullable TokenBlock block = own == null ? null : own.tokens;
        long last = block == null ? holder.last(quorum.majority()) : block.last();
        long first = block == null ? Math.min(holder.highestFirst(), last) : block.first();
        return first <= token && token <= last;
    }

    private void begin() {
        QuorumClaim own = QuorumInspection.own(quorum, holder);
        List<QuorumInspection.Sight> sights = holder.sights;
        pending = sights.size();
        for (QuorumInspection.Sight sight : sights) {
            long token = sight.party().tokens().map(TokenBlock::last).orElse(0L);
            sight.member().ask(new Command.ForceRelease(holder.first.name(), token), (reply, failure) -> {
                pending--;
                possible -= reply != null ? 1 : 0;
                decide(own);
            });
        }
    }

    private void decide(@Nullable QuorumClaim own) {
        if (future.isDone()) {
            return;
        }
        if (possible < quorum.majority()) {
            if (own != null) {
                quorum.lose(own);
            }
            future.complete(new Reply.Released());
        } else if (pending == 0) {
            future.completeExceptionally(quorum.unavailable(
                    Effect.UNKNOWN, "'" + holder.first.name() + "' was released by force", List.of()));
        }
    }
}
