package dev.holdfast.engine.local;

import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.FixedLeaseState;
import dev.holdfast.engine.session.ReleaseRetrier;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.TokenBlock;
import java.util.concurrent.TimeUnit;

/**
 * The grants of a resource, and how long each is passed on: until its tokens or the budget of its cohort are spent.
 * Guarded by the lock of the resource; what leaves it goes to the deferred actions.
 */
abstract class ResourceGrants extends GrantList {

    /**
     * How long from one request for tokens to the next, once a lock is passed on as fast as the store's clock gives
     * them: to ask more often would bring no more of them, and each time writes at the store.
     */
    private static final long SCARCE_TOKENS_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** The smallest block that is asked for once a lock is passed on locally. */
    private static final int MIN_BLOCK = 32;

    final LocalResource resource;

    /** How many tokens the last cohort used: what the next may ask for. */
    private int lastCohort;

    ResourceGrants(LocalResource resource) {
        this.resource = resource;
    }

    /** Whether a grant that is free must go back to the store before this request can have it. */
    boolean mustYield(LocalGrant held, Request first) {
        if (!held.suits(first) || (held.needsTokenFor(first) && held.tokensLeft() == 0 && !mayAdvance(held))) {
            return true;
        }
        boolean servesOnce = resource.policy.servesOnce(resource.partition.context.cohortBudgetNanos());
        return servesOnce ? held.hasServed() : held.isSpent();
    }

    /**
     * Looks ahead while a grant is passed on: asks for tokens in good time, and whether others wait once the budget is
     * spent.
     */
    void foresee(LocalGrant held, RequestQueue queue, DeferredActions out) {
        long now = resource.now();
        CohortState cohort = cohortOf(held, now);
        // A bound grant is never passed on: it needs no more tokens, and keeps those that the store tells of it.
        boolean isCounting = !held.isBound() && (!resource.policy.isShared() || (held.weight > 1 && !queue.isEmpty()));
        if (isCounting && cohort.spare == null && held.tokensLeft() <= cohort.used && mayAdvance(held)) {
            advance(held, queue, out);
        }
        if ((resource.partition.context.cohortBudgetNanos() > 0 || resource.policy.isShared())
                && cohort.askIfDue(now)) {
            out.add(() -> resource.partition.driver.poll(held));
        }
    }

    /** Asks for the next block of tokens, once. */
    void advance(LocalGrant held, RequestQueue queue, DeferredActions out) {
        long now = resource.now();
        CohortState cohort = cohortOf(held, now);
        if (!cohort.isAdvancing()) {
            long delay = cohort.patience(now, SCARCE_TOKENS_NANOS);
            long end = held.blockEnd();
            int tokens = tokensToAsk(queue);
            cohort.ask(tokens, now + delay);
            out.add(
                    delay == 0
                            ? () -> resource.partition.driver.advance(held, end, tokens)
                            : () -> resource.partition
                                    .context
                                    .environment()
                                    .schedule(delay, () -> resource.partition.driver.advanceIfHeld(held, end, tokens)));
        }
    }

    /** Whether the store may have more tokens for a grant; if not, a spent block ends its cohort. */
    private boolean mayAdvance(LocalGrant held) {
        CohortState cohort = held.cohort();
        return resource.partition.context.traits().has(Feature.ADVANCE) && (cohort == null || !cohort.isLast());
    }

    private CohortState cohortOf(LocalGrant held, long now) {
        CohortState cohort = held.cohort();
        if (cohort == null) {
            cohort = new CohortState(now + resource.partition.context.cohortBudgetNanos(), false);
            held.begin(cohort);
        }
        return cohort;
    }

    /** One while nobody else waits here; else at most twice what was used of late. */
    final int tokensToAsk(RequestQueue queue) {
        LocalGrant present = firstGrant();
        CohortState cohort = present == null ? null : present.cohort();
        int used = cohort == null ? lastCohort : cohort.used;
        return queue.isEmpty() || (!queue.hasSeveral() && used == 0) ? 1 : blockFor(used);
    }

    private static int blockFor(int used) {
        return (int) Math.min(TokenBlock.MAX_SIZE, Math.max(MIN_BLOCK, 2L * used));
    }

    // ---- Ending

    /** Gives part of a grant back; before the store can know, so that nothing more is handed on. */
    void shrink(LocalGrant held, int weight, DeferredActions out) {
        if (held.weight > weight) {
            held.weight = weight;
            FixedLeaseState outliving = held.outliving();
            out.add(() -> resource.partition.retrier.settle(
                    new Command.ShrinkTo(held.ref, weight),
                    held.session,
                    outliving,
                    CallerMode.ASYNC,
                    ReleaseRetrier.NOBODY));
        }
    }

    /** Forgets a grant; whether it was one. */
    boolean drop(LocalGrant over) {
        CohortState cohort = over.cohort();
        if (cohort != null) {
            lastCohort = cohort.used;
        }
        if (over.own != null && over.own.expiry != null) {
            over.own.expiry.cancel();
        }
        boolean wasGrant = hasGrant(over);
        removeGrant(over);
        return wasGrant;
    }

    /** Sees to the end of a claim at the store, once. */
    void settle(LocalGrant over, Command.OnClaim command, DeferredActions out) {
        settle(over, command, CallerMode.ASYNC, ReleaseRetrier.NOBODY, out);
    }

    void settle(
            LocalGrant over,
            Command.OnClaim command,
            CallerMode caller,
            ReleaseRetrier.Done done,
            DeferredActions out) {
        if (over.isSettling) {
            return;
        }
        resource.partition.retrier.announce(command);
        over.isSettling = true;
        FixedLeaseState outliving = over.outliving();
        out.add(() -> resource.partition.retrier.settle(command, over.session, outliving, caller, done));
    }
}
