package dev.holdfast.engine.local;

import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.time.FairnessSlice;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.TokenBlock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The granted side of a claim: the local holds under it, whose turn it is, and the tokens that they get. Nothing of
 * that is there before the store has granted it. Guarded by the lock of its resource.
 *
 * <p>{@link LocalClaim} is made of it rather than refers to it, so that a held lock weighs an object less.
 */
public abstract class LocalGrant extends Claim {

    public final LocalResource resource;

    /** The one request that it serves; null if it serves whoever is first. */
    private @Nullable Request bound;

    /** Somebody knows it by its id. */
    private boolean isNamed;

    private boolean isShrinkScheduled;

    /** How many local holds were made under it; begins again at 1 when there are too many to count. */
    private int served;

    /** The local hold that is alone under this grant; null if there is none. */
    private @Nullable LocalHold tenant;

    /** The local holds that share this grant, by their owners; null before the first. */
    private @Nullable Map<Object, LocalHold> sharers;

    /** Two held at the same time. */
    private boolean wasShared;

    /** Whose turn it is; null before it was first passed on. */
    private @Nullable FairnessSlice turn;

    // The links of the list of grants.
    @Nullable
    LocalGrant previousGrant;

    @Nullable
    LocalGrant nextGrant;

    private long tokenCursor;
    private long tokenEnd;

    /** The newest token that a hold has under it; the cursor may be before a block of which none was taken yet. */
    private long newestToken;

    /** What is known of the cohort under it; null before it began. */
    private @Nullable CohortState cohort;

    LocalGrant(
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

    // ---- Whom it serves

    /** The one request that it serves; null if it serves whoever is first. */
    @Nullable
    Request boundTo() {
        return bound;
    }

    boolean isBound() {
        return bound != null;
    }

    /** It was granted: unless it has a lease of its own it serves whoever is first from then on. */
    void open() {
        if (own == null) {
            bound = null;
        }
    }

    /** Somebody is told its id, which must never name the permits of another: it serves nobody else from then on. */
    void noteNamed() {
        isNamed = true;
    }

    /** Whether it may serve requests other than the one that it serves now. */
    boolean mayServeOthers() {
        return bound == null && !isNamed;
    }

    /** Whether a grant of this claim is what a request needs. */
    boolean suits(Request request) {
        if (bound != null || request.hasOwnLease()) {
            return bound == request;
        }
        return resource.policy.suits(this, request.weight(), request.number);
    }

    // ---- The local holds under it

    /** Whether a request that it suits can be served beside those who hold now. */
    boolean hasRoomFor(Request request) {
        return tenant == null && (sharers == null || sharers.isEmpty() || request.isShare());
    }

    /** Whether no local hold is live under it. */
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

    /** How many local holds were made under it, as far as they can be counted. */
    int served() {
        return served;
    }

    boolean hasServed() {
        return served > 0;
    }

    /** Whether two held at the same time. */
    boolean wasShared() {
        return wasShared;
    }

    /**
     * Notes that it is looked later whether those who share it are to leave room for others.
     *
     * @return whether that was not noted before
     */
    boolean scheduleShrink() {
        boolean isFirst = !isShrinkScheduled;
        isShrinkScheduled = true;
        return isFirst;
    }

    void endShrinkSchedule() {
        isShrinkScheduled = false;
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
    private FairnessSlice turn() {
        FairnessSlice present = turn;
        if (present == null) {
            present = new FairnessSlice();
            turn = present;
        }
        return present;
    }

    /** Gives the turn to one who is served, or to all who share this grant, unless it is theirs. */
    void passTurnTo(Request request, long nanos) {
        turn().passTo(request.waiter, request.isShare(), resource.partition.context.clock(), nanos);
    }

    /** Gives all who share this grant a turn from now. */
    void beginSharedTurn(long nanos) {
        turn().share(resource.now(), nanos);
    }

    long turnEnds() {
        return turn().ends();
    }

    /** Whether the newest turn is, or was, that of all who share this grant. */
    boolean isTurnShared() {
        return turn != null && turn.isShared();
    }

    /** Whether someone has a turn that is not over. */
    boolean isTurn() {
        return turn != null && !turn.isOver(resource.now());
    }

    /** Whether it is the turn of this request. */
    boolean isTurnOf(Request request) {
        return turn != null && turn.includes(request.waiter, request.isShare()) && !turn.isOver(resource.now());
    }

    /** Whether it is the turn of others than a thread. */
    boolean isTurnOfOthers(Thread waiter) {
        return turn != null && !turn.isOwnedBy(waiter) && !turn.isOver(resource.now());
    }

    /** The head of the queue begins to check whether the turn before it is over. */
    void beginWatch() {
        turn().beginWatch();
    }

    /**
     * Checks the turn for the head of the queue.
     *
     * @return whether it is over, or nobody was served since the last check
     */
    boolean checkTurn(long now) {
        return turn().check(now, served);
    }

    // ---- Its cohort

    /** What is known of the cohort under this grant; null before it began. */
    @Nullable
    CohortState cohort() {
        return cohort;
    }

    void begin(CohortState fresh) {
        cohort = fresh;
    }

    /** Whether its budget is spent, and others wait for it; never before it has served somebody. */
    boolean isSpent() {
        return served > 0 && cohort != null && cohort.isSpent(resource.partition.context.clock());
    }

    @Override
    public void pollFailed() {
        if (cohort != null) {
            cohort.askFailed();
        }
    }

    /** The store has confirmed the grant, and tells whether others wait: if none do, the budget begins anew. */
    void confirm(Reply.Granted reply, long endsAnew) {
        adopt(reply.tokens());
        if (cohort != null) {
            cohort.answer(reply.awaited(), endsAnew);
        }
    }

    /** The store gives it a fresh token block; or none, where it has no more. */
    void replenish(Reply.@Nullable Advanced reply) {
        if (cohort != null) {
            cohort.endAdvance(reply == null);
            if (reply != null && state == State.HELD) {
                cohort.got(reply.tokens().size(), reply.awaited());
                adopt(reply.tokens());
            }
        }
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

    /** Whether a hold for a request takes the next token: those who share have that of the one before. */
    boolean needsTokenFor(Request request) {
        return !request.isShare() || served == 0;
    }

    /** The newest token that a hold has under this grant. */
    long newestToken() {
        return newestToken;
    }

    /** The token after which those of its present block are free. */
    long tokenCursor() {
        return tokenCursor;
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
