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
 * Brings a store back to where it was before a test, while the program goes on: waits until what the program has begun
 * is over, ends what others hold, and has the client recover. Time passes meanwhile.
 *
 * <p>The campaigns of the program and the tasks that run just now are its own business, and stay.
 */
final class StoreReset {

    private static final Duration STEP = Duration.ofSeconds(1);

    /** Longer than the time-outs, pauses and leases that people set for tests. */
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
     * Does it, when all faults are over.
     *
     * @param taken what others were made to take
     * @throws IllegalStateException if something is left that only its owner can end
     */
    void run(List<Hold> taken) {
        // First: who waits for what others hold would get it, and go on.
        passUntilEmpty("the program has not finished: ", () -> ofProgram.open(kind -> !mayGoOn(kind)));
        taken.forEach(StoreReset::close);
        passUntilEmpty("others have not finished: ", () -> ofOthers.open(kind -> true));
        record.forgetTasks(ofProgram::isOpen);
        passUntilEmpty("", this::troubles);
    }

    private static boolean mayGoOn(Kind kind) {
        return kind == Kind.ELECTION || kind == Kind.TASK;
    }

    private static void close(Hold hold) {
        try {
            hold.close();
        } catch (HoldfastException e) {
            // It was lost: then there is nothing to release.
        }
    }

    private List<String> troubles() {
        List<String> troubles = new ArrayList<>();
        ClientState.Status status = client.state().status();
        if (status != ClientState.Status.CONNECTED) {
            troubles.add("the client is " + status);
        }
        record.all().stream().filter(this::isLeft).forEach(each -> troubles.add("'" + each.name() + "' is in use"));
        return troubles;
    }

    private boolean isLeft(ResourceInfo resource) {
        return !mayGoOn(resource.spec().kind())
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
