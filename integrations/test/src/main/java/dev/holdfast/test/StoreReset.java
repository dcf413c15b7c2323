package dev.holdfast.test;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.admin.ClientState;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.ResourceInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Resets a store for the next test, while the program keeps running: waits until the program has finished what it has
 * begun, releases what others hold, and lets the client recover. Time passes meanwhile.
 *
 * <p>The program's campaigns and running tasks stay.
 */
final class StoreReset {

    private static final Duration STEP = Duration.ofSeconds(1);

    /** Longer than the time-outs, pauses and leases that are usual in tests. */
    private static final int MAX_STEPS = 300;

    /** For threads that a step has woken. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Holdfast client;
    private final StoreRecord record;
    private final Acquisitions ofProgram;
    private final Acquisitions ofOthers;
    private final Consumer<Duration> advance;

    StoreReset(
            Holdfast client,
            StoreRecord record,
            Acquisitions ofProgram,
            Acquisitions ofOthers,
            Consumer<Duration> advance) {
        this.client = client;
        this.record = record;
        this.ofProgram = ofProgram;
        this.ofOthers = ofOthers;
        this.advance = advance;
    }

    /**
     * Resets the store, after all faults have ended.
     *
     * @param taken the holds that others took for the test
     * @throws IllegalStateException if something remains that only its owner can end
     */
    void run(List<Hold> taken) {
        // First, since a release by others would let waiters of the program continue.
        passUntilEmpty("the program has not finished: ", () -> ofProgram.open(kind -> !mayContinue(kind)));
        taken.forEach(StoreReset::close);
        passUntilEmpty("others have not finished: ", () -> ofOthers.open(kind -> true));
        record.forgetTasks(ofProgram::isOpen);
        passUntilEmpty("", this::troubles);
    }

    private static boolean mayContinue(Kind kind) {
        return kind == Kind.ELECTION || kind == Kind.TASK;
    }

    private static void close(Hold hold) {
        try {
            hold.close();
        } catch (HoldfastException e) {
            // The lock was lost, so there is nothing to release.
        }
    }

    private List<String> troubles() {
        List<String> troubles = new ArrayList<>();
        ClientState.Status status = client.state().status();
        if (status != ClientState.Status.CONNECTED) {
            troubles.add("the client is " + status);
        }
        record.all().stream().filter(this::mustEnd).forEach(each -> troubles.add("'" + each.name() + "' is in use"));
        return troubles;
    }

    private boolean mustEnd(ResourceInfo resource) {
        return !mayContinue(resource.spec().kind())
                || !ofProgram.isOpen(resource.name().value());
    }

    private void passUntilEmpty(String prefix, Supplier<List<String>> question) {
        List<String> left = question.get();
        for (int step = 0; !left.isEmpty(); step++) {
            if (step == MAX_STEPS || client.state().status() == ClientState.Status.CLOSED) {
                throw new IllegalStateException(
                        "The test's store can't be reset: " + prefix + String.join(", ", left) + ".");
            }
            advance.accept(STEP);
            LockSupport.parkNanos(this, PAUSE_NANOS);
            left = question.get();
        }
    }
}
