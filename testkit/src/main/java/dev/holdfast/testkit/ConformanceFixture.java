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
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/** The store under test, with the operations that most tests use. */
final class ConformanceFixture {

    /** A store that does not answer within this time has hung. */
    static final Duration ANSWER = Duration.ofSeconds(60);

    /** How early, by our clock, a store that counts in coarse units may end a session or lease. */
    private static final Duration CLOCK_GRAIN = Duration.ofMillis(20);

    /** The ttl of sessions that should outlast the test, where the store allows it. */
    private static final Duration LONG = Duration.ofHours(1);

    final LockStore first;
    final LockStore second;
    final StoreTraits traits;

    /** The signals of the first connection. */
    final Queue<Signal> firstSignals = new ConcurrentLinkedQueue<>();

    /** The signals of the second connection. */
    final Queue<Signal> secondSignals = new ConcurrentLinkedQueue<>();

    private final StoreUnderTest subject;

    /** By what factor short leases are longer than usual. */
    private final int factor;

    /** The start of the first short lease or session that the test has not yet waited for; null if there is none. */
    private @Nullable Long shortSince;

    private boolean wasTooSlow;

    ConformanceFixture(StoreUnderTest subject, int factor) {
        this.subject = subject;
        this.factor = factor;
        this.first = subject.first();
        this.second = subject.second();
        this.traits = first.traits();
        first.subscribe(firstSignals::add);
        second.subscribe(secondSignals::add);
    }

    /** A client on the first connection whose session outlasts the test. */
    TestClient client(String label) {
        return TestClient.open(first, longTtl(), label);
    }

    /** A client on the second connection whose session outlasts the test. */
    TestClient other(String label) {
        return TestClient.open(second, longTtl(), label);
    }

    private Duration longTtl() {
        return traits.maxSessionTtl().compareTo(LONG) < 0 ? traits.maxSessionTtl() : LONG;
    }

    /** A client on the first connection whose session ends soon unless it is kept alive. */
    TestClient shortLived(String label) {
        return TestClient.open(first, shortTtl(), label);
    }

    /** The ttl of sessions and leases that the test lets end. They begin now at the earliest. */
    Duration shortTtl() {
        if (shortSince == null) {
            shortSince = System.nanoTime();
        }
        return shortLength();
    }

    private Duration shortLength() {
        return hasClock() ? Duration.ofSeconds(10) : subject.shortTtl().multipliedBy(factor);
    }

    /** Whether a short session or lease may have ended before the test was ready: then its result means nothing. */
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
     * Lets time pass, on a moved or the real clock, until a condition holds; at most twice the length of short leases.
     */
    void until(String what, BooleanSupplier isSo) {
        wasTooSlow |= isTooSlow();
        shortSince = null;
        Duration step = shortLength().dividedBy(8);
        long deadline = System.nanoTime()
                + 2 * shortLength().toNanos()
                + subject.timeout().toNanos();
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

    /** Waits, in real time, for something that the store does at once without further commands. */
    void soon(String what, BooleanSupplier isSo) {
        long deadline = System.nanoTime() + subject.timeout().toNanos();
        while (!isSo.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("In " + subject.timeout() + " it did not come about that " + what);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Skips the test, with the reason, where the store does not promise what is tested. */
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

    /** The reply to a Yield without waiters: a store that does not know its waiters requeues the claim in any case. */
    Class<? extends Reply> yieldedAlone() {
        return traits.has(Feature.KNOWN_WAITERS) ? Reply.Granted.class : Reply.Queued.class;
    }

    boolean forgetIdle() {
        return subject.forgetIdle();
    }

    boolean damage(ResourceName name) {
        return subject.damage(name);
    }

    /** Sends one command and waits for the reply. */
    static Reply send(LockStore store, Command command) {
        try {
            return await(store, command);
        } catch (ExecutionException e) {
            throw failed(command, e);
        }
    }

    /** Sends one command at which the store must fail, and returns the failure. */
    static StoreException failure(LockStore store, Command command) {
        try {
            throw new AssertionError(command + "\n  was to fail, but was answered\n  " + await(store, command));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof StoreException failure) {
                return failure;
            }
            throw failed(command, e);
        }
    }

    private static AssertionError failed(Command command, ExecutionException e) {
        return new AssertionError("The store failed at " + command + ": " + e.getCause(), e.getCause());
    }

    private static Reply await(LockStore store, Command command) throws ExecutionException {
        try {
            return store.execute(command, CallerMode.BLOCKING, ANSWER)
                    .toCompletableFuture()
                    .get(ANSWER.toNanos(), TimeUnit.NANOSECONDS);
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

    /** All resources in use whose names have a prefix, as the store reports them. */
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

    /** A resource that is in use, as the store reports it. */
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
