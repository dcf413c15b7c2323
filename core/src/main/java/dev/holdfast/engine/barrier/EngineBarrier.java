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
 * At the store, a barrier consists of
 *
 *   name            a semaphore with a place for each party; a party has one while it enters and while it is inside
 *   name#opened     a latch, used as a number that only increases and outlives its writer: its generation is the
 *                   highest token of the parties that entered last
 *   name#door       a lock, under which parties open the barrier and give up; on a store with partitions, a number is
 *                   appended that puts it into the partition of the latch
 *
 * A party whose place has a token up to the number that was written last is inside; one with a greater token is
 * entering. The door may be opened when all places are held by entering parties. The opener sees this in one
 * inspection, which shows one state of the store, and then writes the highest of their tokens as the new number. This
 * lets them in.
 *
 * Why it never opens for too few. Between the inspection and the write, (1) no party releases its place, since that is
 * only done under the lock, however long it takes (BarrierWithdrawal); (2) if the opener has lost the lock because its
 * session has ended, the store refuses the number, which is written under that session; (3) the number is not written
 * late, since after an unknown outcome the epoch is raised, or the session retired, before the lock is released. A
 * party that dies in between has died after all were present. Parties that were inside before don't count, since their
 * tokens are not above the last number. Parties that come later have tokens above the new number, so it does not let
 * them in.
 *
 * A party always knows whether it has a place, because places are tried for and never queued for. A party that gave up
 * in a queue could have been granted a counted place just before, without knowing it, and would then have to leave.
 *
 * Why every member notices. A member's token is not above the new number, and this stays so: no later number can be
 * written while the member has its place, since that would need all places. It may therefore read the number at any
 * later time. The last party to come checks at once after it got its place, when all are present. The others poll too,
 * in case it dies before it opens.
 *
 * Why leaving ends. A generation has left when no place is held with a token up to its number. Places end with
 * sessions, so dead members leave; later parties have greater tokens and don't matter. The places have their own leases
 * (of a hundred years, but they end with the session) because grants with leases are never handed over inside a
 * process: a place that was handed over would keep its token, and its new holder would seem to be inside.
 *
 * The number must not be forgotten while members are inside, and stores forget unused latches. Each member therefore
 * keeps a pass of the latch, which weighs nothing, until it leaves. When all have left, the number may be forgotten:
 * then no place has a token that was let in.
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

    /** The first name in the partition of another: what one session covers must be in one partition. */
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
                // More went wrong than that some parties are missing.
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
            // The door was opened before the wait was given up.
            Thread.currentThread().interrupt();
            return inside;
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof InterruptedException)) {
                // The result is another failure, so the interrupt must still be reported.
                Thread.currentThread().interrupt();
            }
            throw EngineBarrier.<InterruptedException>known(e);
        }
    }

    /** Throws the failure of a result, which is of the given class or unchecked. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    static <E extends Throwable> RuntimeException known(ExecutionException e) throws E {
        Throwable cause = e.getCause();
        throw (E) (cause == null ? e : cause);
    }

    @Override
    public CompletionStage<BarrierMembership> enterAsync() {
        BarrierEntry entering = new BarrierEntry(this, TotalWait.begin(context.environment(), Optional.empty()));
        CompletableFuture<BarrierMembership> userStage = new CompletableFuture<>();
        var unusedEntry = entering.begin()
                .whenComplete((inside, failure) -> context.callbacks().run(() -> {
                    if (failure != null) {
                        userStage.completeExceptionally(failure);
                    } else if (!userStage.complete(inside)) {
                        inside.leaveQuietly();
                    }
                }));
        var unusedEnd = userStage.whenComplete((inside, failure) -> {
            if (failure != null) {
                entering.giveUp(new CancellationException());
            }
        });
        return userStage;
    }

    // ---- Store operations

    /** Whether the store has not answered for longer than the store time-out. */
    boolean isStoreSilent() {
        return resources.partition(name).isSilent();
    }

    /** Tries for a place; the hold is a {@link LocalHold} with its own claim. */
    CompletableFuture<Hold> askForPlace() {
        return new Acquirer(resources, name, Mode.unowned(places, 1))
                .enterForEngine(AcquireTerms.attempt(WITH_SESSION));
    }

    /** Tries for the lock under which parties open the barrier and give up. */
    CompletableFuture<Hold> tryLockDoor() {
        return door.enterForEngine(AcquireTerms.TRY);
    }

    /** Waits for this lock, without a time limit. */
    CompletableFuture<Hold> lockDoor() {
        return door.enterForEngine(AcquireTerms.FOREVER);
    }

    /** Reads the number that was written last. */
    CompletableFuture<LatchCall.Answer> newest() {
        return LatchCall.countDown(resources.partition(opened), opened, 0, QUESTION, CallerMode.ASYNC);
    }

    /** The same, after the latch was counted down to zero, which a writer that died may have left undone. */
    CompletableFuture<LatchCall.Answer> atRest(LatchCall.Answer number) {
        return number.remaining() == 0
                ? CompletableFuture.completedFuture(number)
                : LatchCall.countDown(resources.partition(opened), opened, number.generation(), OPEN, CallerMode.ASYNC);
    }

    /** Keeps the store from forgetting the number. */
    CompletableFuture<Hold> rememberNewest() {
        return new Acquirer(resources, opened, Mode.unowned(LATCH, 0)).enterForEngine(AcquireTerms.FOREVER);
    }

    /** The holders of places, in one state of the store. */
    CompletableFuture<List<Party>> present() {
        return ResourceInspection.askForAll(resources.partition(name).wire, name, CallerMode.ASYNC)
                .thenApply(found -> found.stream()
                        .flatMap(info -> info.holders().stream())
                        .filter(party -> !party.remaining().isZero()
                                && !party.remaining().isNegative())
                        .toList());
    }

    /** The number that lets in all present parties, if all places are held by parties that are not inside yet. */
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

    /** Writes a number under the door's lock, which lets in the parties whose tokens are not above it. */
    CompletableFuture<Boolean> open(LocalHold lock, long number) {
        return BarrierOpening.begin(resources.partition(opened), opened, lock.claim().session, number);
    }

    @Override
    public String toString() {
        return "DistributedDoubleBarrier[" + name + ", " + parties() + ", " + context.product() + "]";
    }
}
