package dev.holdfast.engine.local;

import dev.holdfast.Loss;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.TokenBlock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A claim of a local resource: the requests that it serves, and, once it is granted, the local holds and the tokens
 * under it. Guarded by the lock of its resource, but for what is volatile.
 */
public final class LocalClaim extends Claim {

    public final LocalResource resource;
    /** The one request that this claim serves; null if it serves whoever is first. */
    private @Nullable Request bound;

    /** The grant that this claim replaces by a yield, until that is answered. */
    @Nullable
    LocalClaim replaces;

    /**
     * Somebody knows it by its id: it serves nobody else from then on, so that the id never names another's permits.
     */
    boolean isNamed;

    /** A look is set whether those who share a grant for more than they need are to leave room for others. */
    boolean isToLeaveRoom;

    /** How many local holds were made under it; begins again at 1 when there are too many to count. */
    int served;

    /** The local hold that is alone under this grant; null if there is none. */
    private @Nullable LocalHold tenant;

    /** The local holds that share this grant, by their owners; null before the first. */
    private @Nullable Map<Object, LocalHold> sharers;

    /** Two held at the same time. */
    boolean wasShared;

    /** Whose turn it is; null before it was first passed on. */
    @Nullable
    FairnessSlice turn;

    // The place among the resource's grants.
    @Nullable
    LocalClaim previousGrant;

    @Nullable
    LocalClaim nextGrant;

    long tokenCursor;
    long tokenEnd;

    /** The newest token that a hold has under it; the cursor may be before a block of which none was taken yet. */
    long newestToken;

    @Nullable
    CohortState cohort;

    LocalClaim(
            LocalResource resource,
            ClaimRef ref,
            Session session,
            Lease lease,
            @Nullable Request bound,
            int weight,
            long newestServed) {
        super(ref, session, lease, weight, newestServed);
        this.resource = resource;
        this.bound = bound;
    }

    /** Whether it serves one request only. */
    boolean isBound() {
        return bound != null;
    }

    /** The request for which it goes past the claim that waits; null if it does not, and once that has it. */
    @Nullable
    Request bargesFor() {
        return isBarging && isIdle() ? bound : null;
    }

    @Override
    public boolean isTry() {
        return bound != null && bound.isTry;
    }

    @Override
    public boolean failsUnanswered() {
        return isTry() && resource.policy.triesFailUnanswered();
    }

    /** It was granted: unless it has a lease of its own it serves whoever is first from then on. */
    void open() {
        if (own == null) {
            bound = null;
        }
    }

    // ---- Answers of the store

    @Override
    public Partition partition() {
        return resource.partition;
    }

    @Override
    public ReentrantLock lock() {
        return resource.lock;
    }

    @Override
    public ResourceSpec spec() {
        return resource.spec;
    }

    @Override
    @Nullable
    public ClaimRef replacedRef() {
        return replaces == null ? null : replaces.ref;
    }

    @Override
    public long newestRequest() {
        return resource.newestRequest();
    }

    @Override
    public void granted(Reply.Granted reply, DeferredActions out) {
        resource.granted(this, reply, out);
    }

    @Override
    public void queued(DeferredActions out) {
        resource.queued(this, out);
    }

    @Override
    public void notGranted(Denial how, @Nullable Supplier<RuntimeException> why, DeferredActions out) {
        resource.notGranted(this, how, why, out);
    }

    @Override
    public void vanished(DeferredActions out) {
        resource.vanished(this, out);
    }

    @Override
    public void advanced(Reply.@Nullable Advanced reply, DeferredActions out) {
        resource.advanced(this, reply, out);
    }

    @Override
    public void withdraw(DeferredActions out) {
        resource.withdraw(this, out);
    }

    @Override
    public void pollFailed() {
        if (cohort != null) {
            cohort.asking = false;
        }
    }

    @Override
    public void react(DeferredActions out) {
        resource.react(out);
    }

    @Override
    public void step(Consumer<DeferredActions> what) {
        resource.step(what);
    }

    @Override
    public void end(Loss.Cause cause) {
        resource.end(this, cause);
    }

    // ---- The local holds under a grant

    /** Whether a grant of this claim is what a request needs. */
    boolean suits(Request request) {
        if (bound != null || request.hasOwnLease()) {
            return bound == request;
        }
        return resource.policy.suits(this, request.weight(), request.number);
    }

    /** Whether a request that it suits can be served beside those who hold now. */
    boolean hasRoomFor(Request request) {
        return tenant == null && (sharers == null || sharers.isEmpty() || request.isShare());
    }

    boolean isIdle() {
        return tenant == null && (sharers == null || sharers.isEmpty());
    }

    @Nullable
    LocalHold tenant() {
        return tenant;
    }

    void take(LocalHold hold) {
        served = served == Integer.MAX_VALUE ? 1 : served + 1;
        if (hold.isShare()) {
            share(hold);
        } else {
            tenant = hold;
        }
    }

    void leave(LocalHold hold) {
        if (tenant == hold) {
            tenant = null;
        } else if (sharers != null) {
            sharers.remove(hold.key(), hold);
        }
    }

    /** Takes one who shares, who may have been alone here before. */
    void share(LocalHold hold) {
        tenant = null;
        if (sharers == null) {
            sharers = new LinkedHashMap<>();
        }
        sharers.put(hold.key(), hold);
        wasShared |= sharers.size() > 1;
    }

    /** The live hold of a thread under this grant. */
    @Nullable
    LocalHold holdOf(Thread thread) {
        if (tenant != null && tenant.owner == thread) {
            return tenant;
        }
        return sharers == null ? null : sharers.get(thread);
    }

    /** How many live holds there are under this grant. */
    int holdCount() {
        return (tenant == null ? 0 : 1) + (sharers == null ? 0 : sharers.size());
    }

    /** All live holds under this grant. */
    List<LocalHold> holds() {
        List<LocalHold> all = new ArrayList<>();
        if (tenant != null) {
            all.add(tenant);
        }
        if (sharers != null) {
            all.addAll(sharers.values());
        }
        return all;
    }

    // ---- Turns

    /** The turn under this grant, which is over if there was none. */
    FairnessSlice turn() {
        FairnessSlice present = turn;
        if (present == null) {
            present = new FairnessSlice();
            turn = present;
        }
        return present;
    }

    /** Whether someone has a turn that is not over. */
    boolean isTurn(long now) {
        return turn != null && !turn.isOver(now);
    }

    // ---- Tokens

    /** Takes a block if it is newer than all it has had; the cursor never goes back. */
    void adopt(TokenBlock block) {
        if (block.first() <= blockEnd()) {
            return;
        }
        if (cohort != null && tokenCursor < tokenEnd) {
            cohort.spare = block;
        } else {
            tokenCursor = block.first() - 1;
            tokenEnd = block.last();
            if (cohort != null) {
                // Of a spare block that was not begun, all tokens are below these.
                cohort.spare = null;
            }
        }
    }

    /** The next token of its blocks, or 0 when they are spent. */
    long nextToken() {
        if (tokenCursor == tokenEnd && cohort != null && cohort.spare != null) {
            TokenBlock block = cohort.spare;
            cohort.spare = null;
            tokenCursor = block.first() - 1;
            tokenEnd = block.last();
        }
        if (tokenCursor == tokenEnd) {
            return 0;
        }
        tokenCursor++;
        newestToken = tokenCursor;
        if (cohort != null) {
            cohort.use();
        }
        return tokenCursor;
    }

    /** Whether more than one local hold was made under it, others waiting here or at the store. */
    boolean wasPassedOn() {
        return cohort != null && cohort.used > 1;
    }

    /** The end of the newest block, by which an advance is guarded. */
    long blockEnd() {
        return cohort != null && cohort.spare != null ? cohort.spare.last() : tokenEnd;
    }

    /** How many tokens are left. */
    long tokensLeft() {
        return tokenEnd - tokenCursor + (cohort != null && cohort.spare != null ? cohort.spare.size() : 0);
    }
}
