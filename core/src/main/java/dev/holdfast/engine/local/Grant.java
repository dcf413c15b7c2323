package dev.holdfast.engine.local;

import dev.holdfast.engine.local.KindPolicy.HandOver;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.time.FairnessSlice;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.TokenBlock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a claim became when the store granted it: the local holds under it, whose slice it is, and its fencing tokens.
 * Guarded by the lock of its resource.
 */
public final class Grant implements Claim.Attachment {

    /** Later than this many round trips before its budget ends, a cohort asks for no more tokens. */
    private static final int LAST_ADVANCE_TRIPS = 2;

    final Claim claim;
    private final Resource resource;

    /** The only request that it serves; null if it serves the first that it suits. */
    private final @Nullable Request only;

    /** A caller knows it by its id, which must never name the permits of another. */
    private boolean isNamed;

    private boolean isShrinkScheduled;

    /** How many local holds were made under it; continues at 1 after the largest number. */
    private int served;

    /** The local hold that excludes others under this grant; null if there is none. */
    private @Nullable LocalHold soleHold;

    /** The local holds that share this grant, by {@link LocalHold#key()}; null before the first. */
    private @Nullable Map<Object, LocalHold> sharedHolds;

    /** Two holds shared it at the same time. */
    private boolean wasShared;

    /** Whose slice it is; null before it was first handed over. */
    private @Nullable FairnessSlice slice;

    /** Null before it is handed over. */
    private @Nullable CohortState cohort;

    /** Its annotation at the store; null if it never had one. */
    private @Nullable GrantNote note;

    private long tokenCursor;

    /** How many tokens of the present block come after the cursor. */
    private int blockLeft;

    /** The newest token of a hold under it. The cursor may be before a block of which none was used yet. */
    private long newestToken;

    // The links of Grants.
    @Nullable
    Grant previous;

    @Nullable
    Grant next;

    Grant(Claim claim, Resource resource, @Nullable Request only) {
        this.claim = claim;
        this.resource = resource;
        this.only = only;
    }

    ClaimRef ref() {
        return claim.ref();
    }

    // ---- Which requests it serves

    /** The only request that it serves; null if it serves the first that it suits. */
    @Nullable
    Request only() {
        return only;
    }

    /** Whether it serves a single request. */
    boolean isBound() {
        return only != null;
    }

    /** It serves no other request than the present one. */
    void noteNamed() {
        isNamed = true;
    }

    /** Whether it may serve other requests than the present one. */
    boolean mayServeOthers() {
        return only == null && !isNamed;
    }

    /** Whether it is what a request needs. */
    boolean suits(Request request) {
        if (only != null || request.hasOwnLease()) {
            return only == request;
        }
        return resource.policy.suits(claim, request.weight(), request.number());
    }

    /** Whether a request that it suits can be served beside the present holds. */
    boolean hasRoomFor(Request request) {
        return soleHold == null && (isIdle() || request.isShare());
    }

    boolean canServe(Request request) {
        return claim.isHeld()
                && suits(request)
                && hasRoomFor(request)
                && (isIdle() || !isSpent())
                && !mustAskFirst(request)
                && resource.partition.validity.mayHandOn(claim);
    }

    /** Whether it must go back to the store, once it is idle, before this request can be served. */
    boolean mustYieldFor(Request request) {
        boolean isInBatch = isInBatch(request);
        boolean lacksToken = needsTokenFor(request) && tokensLeft() == 0;
        if (!suits(request) || (lacksToken && !(isInBatch ? mayAdvance() : isAdvanceInTime()))) {
            return true;
        }
        return resource.handOver() == HandOver.NEVER ? hasServed() : isSpent() && !isInBatch;
    }

    /** With strict order, whether a request waited here when the claim was sent: it is served even if others wait. */
    private boolean isInBatch(Request request) {
        return resource.handOver() == HandOver.UNAWAITED
                && resource.context().rules().mayServeBeforeOthers(claim.covers(request.number()));
    }

    /** Whether the store must say that no one waits there before this grant serves another request. */
    boolean mustAskFirst(Request request) {
        return hasServed()
                && resource.handOver() == HandOver.UNAWAITED
                && !isInBatch(request)
                && (cohort == null
                        || !cohort.window.isOpen(
                                resource.now(), resource.context().rules()));
    }

    // ---- The local holds under it

    boolean isIdle() {
        return soleHold == null && (sharedHolds == null || sharedHolds.isEmpty());
    }

    @Nullable
    LocalHold soleHold() {
        return soleHold;
    }

    void add(LocalHold hold) {
        served = served == Integer.MAX_VALUE ? 1 : served + 1;
        if (hold.isShare()) {
            share(hold);
        } else {
            soleHold = hold;
        }
    }

    void remove(LocalHold hold) {
        if (soleHold == hold) {
            soleHold = null;
        } else if (sharedHolds != null) {
            sharedHolds.remove(hold.key(), hold);
        }
    }

    /** Adds a hold that shares it, and may have excluded others before. */
    void share(LocalHold hold) {
        soleHold = null;
        if (sharedHolds == null) {
            sharedHolds = new LinkedHashMap<>();
        }
        sharedHolds.put(hold.key(), hold);
        wasShared |= sharedHolds.size() > 1;
    }

    /** How many local holds were made under it, as far as they can be counted. */
    int served() {
        return served;
    }

    boolean hasServed() {
        return served > 0;
    }

    boolean wasShared() {
        return wasShared;
    }

    /**
     * Notes that a check is scheduled whether the holds that share it must leave room for others.
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

    /** The live hold of a thread. */
    @Nullable
    LocalHold holdOf(Thread thread) {
        if (soleHold != null && soleHold.owner == thread) {
            return soleHold;
        }
        return sharedHolds == null ? null : sharedHolds.get(thread);
    }

    int holdCount() {
        return (soleHold == null ? 0 : 1) + (sharedHolds == null ? 0 : sharedHolds.size());
    }

    /** All live holds. */
    List<LocalHold> holds() {
        List<LocalHold> all = new ArrayList<>();
        if (soleHold != null) {
            all.add(soleHold);
        }
        if (sharedHolds != null) {
            all.addAll(sharedHolds.values());
        }
        return all;
    }

    // ---- Its annotation

    /** Its annotation at the store; null if it never had one. */
    @Nullable
    GrantNote noteOrNull() {
        return note;
    }

    /** Its annotation at the store, made now if it never had one. */
    GrantNote note() {
        GrantNote present = note;
        if (present == null) {
            present = new GrantNote(this, resource);
            note = present;
        }
        return present;
    }

    /** Replaces the lines about what the owners wait for. Called without the lock. */
    void setWaits(List<String> lines) {
        resource.step(deferred -> {
            if (note != null || !lines.isEmpty()) {
                note().waits(lines, deferred);
            }
        });
    }

    // ---- Fairness slices

    /** The slice under this grant; one that is over if there was none. */
    private FairnessSlice slice() {
        FairnessSlice present = slice;
        if (present == null) {
            present = new FairnessSlice();
            slice = present;
        }
        return present;
    }

    /** Gives the slice to the served thread, or to all who share this grant, unless they have it. */
    void passSliceTo(Request request, long nanos) {
        slice().passTo(request.waiter, request.isShare(), resource.context().clock(), nanos);
    }

    /** Gives all who share this grant a slice from now. */
    void beginSharedSlice(long nanos) {
        slice().share(resource.now(), nanos);
    }

    long sliceEnd() {
        return slice().ends();
    }

    /** Whether the newest slice is, or was, that of all who share this grant. */
    boolean isSliceShared() {
        return slice != null && slice.isShared();
    }

    /** Whether a slice is not over. */
    boolean hasSlice() {
        return slice != null && !slice.isOver(resource.now());
    }

    boolean isSliceOf(Request request) {
        return hasSlice() && slice().includes(request.waiter, request.isShare());
    }

    /** Whether another than this thread has a slice. */
    boolean isSliceOfOthers(Thread waiter) {
        return hasSlice() && !slice().isOwnedBy(waiter);
    }

    /** The head of the queue begins to check whether the slice before it has ended. */
    void beginWatch() {
        slice().beginWatch();
    }

    /**
     * Checks the slice for the head of the queue.
     *
     * @return whether it is over, or no request was served since the last check
     */
    boolean checkSlice(long now) {
        return slice().check(now, served);
    }

    // ---- Its cohort

    /** What is known of the cohort under this grant; null before it began. */
    @Nullable
    CohortState cohort() {
        return cohort;
    }

    /** The cohort, which is new if there was none. */
    CohortState cohortFrom(long now) {
        CohortState present = cohort;
        if (present == null) {
            present = resource.newCohort(false);
            cohort = present;
            if (served > 1 || isIdle()) {
                present.begin(now + resource.context().cohortBudgetNanos());
            }
        }
        return present;
    }

    void begin(CohortState fresh) {
        cohort = fresh;
    }

    /** A hold was released: with the first one, the budget of the cohort begins. */
    void released() {
        if (cohort != null && !cohort.hasBegun()) {
            cohort.begin(resource.now() + resource.context().cohortBudgetNanos());
        }
    }

    /** Whether its budget is spent, and others wait for it; never before it has served a request. */
    boolean isSpent() {
        return served > 0 && cohort != null && cohort.isSpent(resource.context().clock());
    }

    /** The question whether others wait has no answer. */
    void pollFailed() {
        if (cohort != null) {
            cohort.askFailed();
            cohort.window.fail();
        }
    }

    /**
     * The store has confirmed the grant, and says whether others wait: if none do, the budget starts again.
     *
     * @param sentAt when the question was sent
     */
    void confirm(Reply.Granted reply, long sentAt) {
        adopt(reply.tokens());
        if (cohort != null) {
            long now = resource.now();
            cohort.answer(reply.awaited(), now + resource.context().cohortBudgetNanos());
            cohort.window.answer(reply.awaited(), sentAt, now);
        }
    }

    /** The store has given it a fresh token block; null if it has no more. */
    void replenish(Reply.@Nullable Advanced reply) {
        if (cohort != null) {
            cohort.endAdvance(reply == null);
            if (reply != null && claim.isHeld()) {
                cohort.got(reply.tokens().size(), reply.awaited());
                adopt(reply.tokens());
            }
        }
    }

    /** Whether the store may have more tokens for it. */
    private boolean mayAdvance() {
        return resource.context().traits().has(Feature.ADVANCE) && (cohort == null || !cohort.isLast());
    }

    /**
     * Whether it is worth asking the store for more tokens; otherwise a spent block ends its cohort. If others wait and
     * the budget ends soon after the answer, the request would only delay the yield.
     */
    boolean isAdvanceInTime() {
        return mayAdvance() && (cohort == null || !cohort.endsWithin(tripsNanos(LAST_ADVANCE_TRIPS), resource.now()));
    }

    /** How long before the end of its budget the store is asked whether others wait: the answer is to be in time. */
    long questionLeadNanos() {
        return Math.min(resource.context().cohortBudgetNanos() / 2, tripsNanos(LAST_ADVANCE_TRIPS + 1));
    }

    private long tripsNanos(int trips) {
        return trips * resource.partition.wire.averageRoundTrip();
    }

    // ---- Fencing tokens

    /** Takes a block if it is newer than all it has had; the cursor never goes back. */
    void adopt(TokenBlock block) {
        if (block.first() <= blockEnd()) {
            return;
        }
        if (cohort != null && blockLeft > 0) {
            cohort.spare = block;
        } else {
            tokenCursor = block.first() - 1;
            blockLeft = Math.toIntExact(block.size());
            if (cohort != null) {
                // All tokens of an unused spare block are below these.
                cohort.spare = null;
            }
        }
    }

    /** Whether a hold for a request takes the next token: holds that share a grant have the same one. */
    boolean needsTokenFor(Request request) {
        return !request.isShare() || served == 0;
    }

    /** The token of a hold for a request, or 0 if there is none yet. */
    long tokenFor(Request request) {
        return needsTokenFor(request) ? nextToken() : newestToken;
    }

    /** The token after which those of its present block are free. */
    long tokenCursor() {
        return tokenCursor;
    }

    /** The next token of its blocks, or 0 when they are spent. */
    long nextToken() {
        if (blockLeft == 0 && cohort != null && cohort.spare != null) {
            TokenBlock block = cohort.spare;
            cohort.spare = null;
            tokenCursor = block.first() - 1;
            blockLeft = Math.toIntExact(block.size());
        }
        if (blockLeft == 0) {
            return 0;
        }
        tokenCursor++;
        blockLeft--;
        newestToken = tokenCursor;
        if (cohort != null) {
            cohort.use();
        }
        return tokenCursor;
    }

    /** Whether more than one local hold was made under it while others waited here or at the store. */
    boolean wasHandedOver() {
        return cohort != null && cohort.used > 1;
    }

    /** The end of the newest block, by which an advance is guarded. */
    long blockEnd() {
        return cohort != null && cohort.spare != null ? cohort.spare.last() : tokenCursor + blockLeft;
    }

    long tokensLeft() {
        return blockLeft + (cohort != null && cohort.spare != null ? cohort.spare.size() : 0);
    }
}
