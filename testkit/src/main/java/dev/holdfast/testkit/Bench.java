package dev.holdfast.testkit;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/** The store under test, with what the tests do to it all the time. */
final class Bench {

    /** A store that does not answer within this time has hung. */
    static final Duration ANSWER = Duration.ofSeconds(60);

    /** How early, by our clock, a store may end what it counts in whole units of its own. */
    private static final Duration CLOCK_GRAIN = Duration.ofMillis(20);

    /** Sessions that are not meant to end, where the store keeps any for so long. */
    private static final Duration LONG = Duration.ofHours(1);

    final LockStore first;
    final LockStore second;
    final StoreTraits traits;

    /** What the first connection was told. */
    final Queue<Signal> told = new ConcurrentLinkedQueue<>();

    /** What the second connection was told. */
    final Queue<Signal> toldSecond = new ConcurrentLinkedQueue<>();

    private final StoreUnderTest subject;

    /** How many times longer than usual short things last. */
    private final int factor;

    /** When the first short thing may have begun that the test has not yet waited for; none if it is null. */
    private @Nullable Long shortSince;

    private boolean wasTooSlow;

    Bench(StoreUnderTest subject, int factor) {
        this.subject = subject;
        this.factor = factor;
        this.first = subject.first();
        this.second = subject.second();
        this.traits = first.traits();
        first.subscribe(told::add);
        second.subscribe(toldSecond::add);
    }

    /** A client on the first connection whose session outlasts the test. */
    Client client(String label) {
        return Client.open(first, longTtl(), label);
    }

    /** A client on the second connection whose session outlasts the test. */
    Client other(String label) {
        return Client.open(second, longTtl(), label);
    }

    private Duration longTtl() {
        return traits.maxSessionTtl().compareTo(LONG) < 0 ? traits.maxSessionTtl() : LONG;
    }

    /** A client on the first connection whose session ends soon unless it is kept alive. */
    Client shortLived(String label) {
        return Client.open(first, shortTtl(), label);
    }

    /** How long what is meant to end lasts. It begins now at the earliest. */
    Duration shortTtl() {
        if (shortSince == null) {
            shortSince = System.nanoTime();
        }
        return shortLength();
    }

    private Duration shortLength() {
        return hasClock() ? Duration.ofSeconds(10) : subject.shortTtl().multipliedBy(factor);
    }

    /**
     * Whether what is meant to end may have ended before the test was ready for it: what it saw then is not what it is
     * about.
     */
    boolean wasTooSlow() {
        return wasTooSlow || isTooSlow();
    }

    private boolean isTooSlow() {
        return !hasClock()
                && shortSince != null
                && System.nanoTime() - shortSince > shortLength().toNanos() - CLOCK_GRAIN.toNanos();
    }

    boolean retells() {
        return subject.retells();
    }

    int randomRuns() {
        return subject.randomRuns();
    }

    boolean hasClock() {
        return subject.clock().isPresent();
    }

    /** Lets time pass; the test is skipped where the kit can't move the clock. */
    void pass(Duration time) {
        Optional<StoreUnderTest.ManualClock> clock = subject.clock();
        needs(clock.isPresent(), "the store's clock can't be moved by the kit");
        clock.orElseThrow().advance(time);
    }

    /**
     * Lets time pass, moved or real, until something is so. It must come within twice the time that short things last.
     */
    void until(String what, BooleanSupplier isSo) {
        wasTooSlow |= isTooSlow();
        shortSince = null;
        Duration step = shortLength().dividedBy(8);
        long deadline = System.nanoTime()
                + 2 * shortLength().toNanos()
                + subject.patience().toNanos();
        for (int steps = 0; !isSo.getAsBoolean(); steps++) {
            if (hasClock() ? steps > 16 : System.nanoTime() - deadline > 0) {
                throw new AssertionError("In " + shortLength().multipliedBy(2) + " it did not come about that " + what);
            }
            if (hasClock()) {
                pass(step);
            } else {
                LockSupport.parkNanos(5_000_000);
            }
        }
    }

    /** Waits, in real time, for something that the store does by itself at once. */
    void soon(String what, BooleanSupplier isSo) {
        long deadline = System.nanoTime() + subject.patience().toNanos();
        while (!isSo.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("In " + subject.patience() + " it did not come about that " + what);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Skips the test, with the reason, where the store does not promise what it looks at. */
    static void needs(boolean promised, String reason) {
        Assumptions.assumeTrue(promised, "Skipped: " + reason);
    }

    void needsPortableSessions() {
        needs(traits.has(Feature.PORTABLE_SESSIONS), "a session belongs to the connection that opened it");
    }

    void needsAdmission(StoreTraits.Admission admission) {
        needs(traits.admissions().contains(admission), "the store does not admit " + admission + " claims");
    }

    void needsFifo() {
        needs(traits.has(Feature.FIFO), "the store does not admit in the order of the queue");
    }

    void needsFixedLeases() {
        needs(traits.fixedLease() != StoreTraits.FixedLease.NONE, "the store has no fixed leases");
    }

    void needsDetached() {
        needsFixedLeases();
        needs(traits.has(Feature.DETACHED_GRANTS), "the store has no detached grants");
    }

    void needsAdvance() {
        needs(traits.has(Feature.ADVANCE), "the store has no Advance");
    }

    /** What a Yield answers when nobody waits: a store that can't know that gives way in any case. */
    Class<? extends Reply> yieldedAlone() {
        return traits.has(Feature.KNOWN_WAITERS) ? Reply.Granted.class : Reply.Queued.class;
    }

    boolean forgetIdle() {
        return subject.forgetIdle();
    }

    boolean damage(ResourceName name) {
        return subject.damage(name);
    }

    /** Sends one command and waits for the answer. */
    static Reply send(LockStore store, Command command) {
        try {
            return store.execute(command, CallerMode.BLOCKING, ANSWER)
                    .toCompletableFuture()
                    .get(ANSWER.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("The store failed at " + command + ": " + e.getCause(), e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("The store did not answer " + command + " within " + ANSWER, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted while waiting for the answer to " + command, e);
        }
    }

    /** Sends one command that the store is to refuse by failing, and gives why it failed. */
    static StoreException failure(LockStore store, Command command) {
        CompletableFuture<Reply> answer =
                store.execute(command, CallerMode.BLOCKING, ANSWER).toCompletableFuture();
        try {
            throw new AssertionError(command + "\n  was to fail, but was answered\n  "
                    + answer.get(ANSWER.toNanos(), TimeUnit.NANOSECONDS));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof StoreException failure) {
                return failure;
            }
            throw new AssertionError("The store failed at " + command + ": " + e.getCause(), e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("The store did not answer " + command + " within " + ANSWER, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted while waiting for the answer to " + command, e);
        }
    }

    /** Sends one command and expects an answer of a kind. */
    @CanIgnoreReturnValue
    static <R extends Reply> R send(LockStore store, Command command, Class<R> expected) {
        Reply reply = send(store, command);
        if (!expected.isInstance(reply)) {
            throw new AssertionError(
                    command + "\n  was to be answered " + expected.getSimpleName() + ", but was answered\n  " + reply);
        }
        return expected.cast(reply);
    }

    /** All that the store says is in use, whose name begins so. */
    List<ResourceInfo> inspect(String prefix) {
        List<ResourceInfo> found = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            Reply.Inspected page = send(first, new Command.Inspect(prefix, cursor, 100), Reply.Inspected.class);
            found.addAll(page.resources());
            cursor = page.cursor();
        } while (cursor.isPresent());
        return found;
    }

    /** What the store says of a resource that is in use. */
    ResourceInfo info(ResourceName name) {
        return inspect(name.value()).stream()
                .filter(info -> info.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("Inspect does not name '" + name + "', which is in use"));
    }

    void close() {
        subject.close();
    }
}
