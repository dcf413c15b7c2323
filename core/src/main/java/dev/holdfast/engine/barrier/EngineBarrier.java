package dev.holdfast.engine.barrier;

import dev.holdfast.BarrierMembership;
import dev.holdfast.DistributedDoubleBarrier;
import dev.holdfast.Hold;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Trampoline;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.latch.LatchCall;
import dev.holdfast.engine.local.AcquireTerms;
import dev.holdfast.engine.local.Acquirer;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.local.Mode;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.engine.wire.ResourceInspection;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/*
 * What stands at the store.
 *
 *   name            a semaphore with a place for each party; whoever enters or is inside has one
 *   name#opened     a latch whose generation is the highest token of those who entered last; nothing but a number that
 *                   only rises and outlives its writer
 *   name#door a lock: who opens, and who gives up, does it under this; where the store has parts, with a number that
 *                   puts it in the part of the latch
 *
 * Who has a place with a token up to the number that was opened last is inside; who has a greater one is entering. The
 * door may be opened when all places are taken by those who are entering. The opener sees that in one inspection, which
 * is one state of the store, and then writes the highest of their tokens as the new number: this is what lets them in.
 *
 * Why it never opens for fewer. Between the inspection and the writing, (1) nobody gives a place back, which is done
 * under the lock only, however long that takes (BarrierWithdrawal); (2) if the opener has lost the lock because its
 * session is over, the store refuses the number, for it is written under that session; (3) the number is not written
 * late, for if the outcome of the writing is unknown the epoch is raised, or the session retired, before the lock is
 * given back. Who dies in between has died after all were there. Those who were inside from before don't count, for
 * their tokens are not above the last number; and those who come later have greater tokens than the new one, so they
 * don't slip in with it.
 *
 * Nobody has a place without knowing: places are tried for, never queued for. Who gives up in a queue may have been
 * served a moment before, and would have to leave a place that was counted without having been told of it.
 *
 * Why everybody learns it. A member's token is not above the new number, and it stays so: no later number can be
 * written while the member has its place, for that would need all places. So it can look for it whenever it likes.
 * Whoever is last looks at once after it got its place, and then all are there; the others look too, in case it dies
 * before it opens.
 *
 * Why leaving ends. A generation is gone when no place is held with a token up to its number. Places hang on sessions,
 * so the dead go; and those who come later have greater tokens, so they don't matter. The places have leases of their
 * own (of a hundred years: they end with the session) because such grants are never passed on inside a process: a place
 * that was passed on would keep its claim, and seem to be inside from before.
 *
 * The number must not be forgotten while members are inside, and a store forgets latches that nobody uses: each member
 * therefore keeps a pass of the latch, which weighs nothing, until it leaves. When all have left it may be forgotten:
 * then nobody has a place with a token that was let in.
 */

/** The double barrier of one name. Immutable. */
public final class EngineBarrier implements DistributedDoubleBarrier {

    private static final ResourceSpec LATCH = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);
    private static final Lease WITH_SESSION = Lease.bounded(Command.MAX_DURATION);
    private static final String QUESTION = "?";
    private static final String OPEN = "open";

    final ClientContext context;
    private final LocalResources resources;
    final ResourceName name;
    private final ResourceName opened;
    private final ResourceSpec places;
    private final Acquirer door;

    public EngineBarrier(LocalResources resources, ResourceName name, int parties) {
        this.resources = resources;
        this.context = resources.context;
        this.name = name;
        this.opened = new ResourceName(name.value() + "#opened");
        this.places = new ResourceSpec(Kind.SEMAPHORE, parties, Order.FAIR);
        this.door = new Acquirer(resources, besides(opened, name.value() + "#door"), Mode.FAIR_MUTEX);
    }

    /**
     * The first name that belongs to the same part of the store as another: what is under one session must be in one
     * part.
     */
    private ResourceName besides(ResourceName other, String name) {
        ResourceName beside = new ResourceName(name);
        for (int i = 1; !resources.areTogether(beside, other); i++) {
            beside = new ResourceName(name + i);
        }
        return beside;
    }

    @Override
    public String name() {
        return name.value();
    }

    @Override
    public int parties() {
        return places.capacity();
    }

    // ---- Entering

    @Override
    public BarrierMembership enter() throws InterruptedException {
        return await(Optional.empty());
    }

    @Override
    public Optional<BarrierMembership> tryEnter(Duration maxWait) throws InterruptedException {
        try {
            return Optional.of(await(Optional.of(maxWait)));
        } catch (LockWaitTimeoutException e) {
            if (e.getSuppressed().length > 0) {
                // More than that not all have come.
                throw e;
            }
            return Optional.empty();
        }
    }

    private BarrierMembership await(Optional<Duration> maxWait) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before entering barrier '" + name + "'");
        }
        BarrierEntry entering = new BarrierEntry(this, TotalWait.begin(context.environment(), maxWait));
        CompletableFuture<EngineMembership> result = entering.begin();
        try {
            Trampoline.flush();
            return result.get();
        } catch (ExecutionException e) {
            throw EngineBarrier.<RuntimeException>known(e);
        } catch (InterruptedException interrupt) {
            entering.giveUp(interrupt);
        }
        try {
            BarrierMembership inside = Uninterruptibles.uninterruptibly(result);
            // The door was open by then.
            Thread.currentThread().interrupt();
            return inside;
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof InterruptedException)) {
                // It ended otherwise, and the interrupt is still to be told.
                Thread.currentThread().interrupt();
            }
            throw EngineBarrier.<InterruptedException>known(e);
        }
    }

    /** Throws what ended a result, which is of that kind or unchecked. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    static <E extends Throwable> RuntimeException known(ExecutionException e) throws E {
        Throwable cause = e.getCause();
        throw (E) (cause == null ? e : cause);
    }

    @Override
    public CompletionStage<BarrierMembership> enterAsync() {
        BarrierEntry entering = new BarrierEntry(this, TotalWait.begin(context.environment(), Optional.empty()));
        CompletableFuture<BarrierMembership> told = new CompletableFuture<>();
        var unusedEntry = entering.begin()
                .whenComplete((inside, failure) -> context.callbacks().run(() -> {
                    if (failure != null) {
                        told.completeExceptionally(failure);
                    } else if (!told.complete(inside)) {
                        inside.leaveQuietly();
                    }
                }));
        var unusedEnd = told.whenComplete((inside, failure) -> {
            if (failure != null) {
                entering.giveUp(new CancellationException());
            }
        });
        return told;
    }

    // ---- What the parts ask of the store

    /** Whether the store has answered nothing for as long as anybody waits. */
    boolean isStoreSilent() {
        return resources.partition(name).isSilent();
    }

    /** Asks for a place, without waiting for one; the hold is a {@link LocalHold} with a claim of its own. */
    CompletableFuture<Hold> askForPlace() {
        return new Acquirer(resources, name, Mode.unowned(places, 1))
                .enterForEngine(AcquireTerms.attempt(WITH_SESSION));
    }

    /** Asks for the lock under which parties open and give up, without waiting for it. */
    CompletableFuture<Hold> tryLockDoor() {
        return door.enterForEngine(AcquireTerms.TRY);
    }

    /** Waits for the same lock, however long another has it. */
    CompletableFuture<Hold> lockDoor() {
        return door.enterForEngine(AcquireTerms.FOREVER);
    }

    /** The number that was opened last. */
    CompletableFuture<LatchCall.Answer> newest() {
        return LatchCall.countDown(resources.partition(opened), opened, 0, QUESTION, CallerMode.ASYNC);
    }

    /** The same, after the latch was brought to rest; who wrote the number may have died before it did. */
    CompletableFuture<LatchCall.Answer> atRest(LatchCall.Answer number) {
        return number.remaining() == 0
                ? CompletableFuture.completedFuture(number)
                : LatchCall.countDown(resources.partition(opened), opened, number.generation(), OPEN, CallerMode.ASYNC);
    }

    /** Keeps the number from being forgotten. */
    CompletableFuture<Hold> rememberNewest() {
        return new Acquirer(resources, opened, Mode.unowned(LATCH, 0)).enterForEngine(AcquireTerms.FOREVER);
    }

    /** Who has a place, in one state of the store. */
    CompletableFuture<List<Party>> present() {
        return ResourceInspection.askForAll(resources.partition(name).wire, name, CallerMode.ASYNC)
                .thenApply(found -> found.stream()
                        .flatMap(info -> info.holders().stream())
                        .filter(party -> !party.remaining().isZero()
                                && !party.remaining().isNegative())
                        .toList());
    }

    /** The number that lets all in who are present, if all places are taken by parties that are not inside yet. */
    Optional<Long> numberFor(List<Party> present, long newest) {
        boolean isFull = present.size() == parties() && present.stream().allMatch(party -> firstToken(party) > newest);
        return isFull
                ? present.stream()
                        .map(party -> party.tokens().map(TokenBlock::last).orElseThrow())
                        .max(Long::compare)
                : Optional.empty();
    }

    static long firstToken(Party party) {
        return party.tokens().map(TokenBlock::first).orElseThrow();
    }

    /** Writes a number under the lock of the door, and lets in all whose tokens are not above it. */
    CompletableFuture<Boolean> open(LocalHold lock, long number) {
        return BarrierOpening.begin(resources.partition(opened), opened, lock.grant.session, number);
    }

    @Override
    public String toString() {
        return "DistributedDoubleBarrier[" + name + ", " + parties() + ", " + context.product() + "]";
    }
}
