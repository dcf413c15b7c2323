package dev.holdfast.cli.run;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.cli.CliProcess;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A hold whose lease is what the test says. */
final class FakeHold implements Hold {

    private volatile Duration remaining;
    private volatile Loss.Cause lossCause = Loss.Cause.EXPIRED;
    private volatile boolean isBroken;
    private final AtomicInteger polls = new AtomicInteger();
    private volatile Consumer<Loss> listener = loss -> {};

    FakeHold(Duration remaining) {
        this.remaining = remaining;
    }

    void setRemaining(Duration left) {
        remaining = left;
    }

    void lose(Loss.Cause cause) {
        loseUntold(cause);
        listener.accept(lossBy(cause));
    }

    /** Is lost, but the listener has not been notified yet. */
    void loseUntold(Loss.Cause cause) {
        lossCause = cause;
        remaining = Duration.ZERO;
    }

    private Loss lossBy(Loss.Cause cause) {
        return new Loss(name(), "fake", 1, cause);
    }

    @Override
    public String name() {
        return "x";
    }

    @Override
    public String holdId() {
        return "1@fake";
    }

    @Override
    public long fencingToken() {
        if (remaining.isZero()) {
            throw new LockLostException(lossBy(lossCause));
        }
        return 1;
    }

    @Override
    public boolean isHeld() {
        return !remaining.isZero();
    }

    @Override
    public void ensureHeld() {}

    /**
     * Waits until the lease has been read twice from now on: by then the reaction to the first read has ended.
     */
    void untilLookedAt() {
        int before = polls.get();
        CliProcess.until("somebody looks at the lease", () -> polls.get() >= before + 2);
    }

    /** From now on the lease can't be asked for. */
    void breakDown() {
        isBroken = true;
    }

    @Override
    public Duration remaining() {
        polls.incrementAndGet();
        if (isBroken) {
            throw new IllegalStateException("broken");
        }
        return remaining;
    }

    @Override
    public Duration effectiveLease() {
        return Duration.ofSeconds(30);
    }

    @Override
    public Hold onLost(Consumer<Loss> whenLost) {
        listener = whenLost;
        return this;
    }

    @Override
    public void extend(Duration lease) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        return CompletableFuture.completedFuture(ReleaseOutcome.RELEASED);
    }

    @Override
    public void close() {}
}
