package dev.holdfast.cli.run;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.admin.LockAdmin;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.cli.store.Holders;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reports the holders of the lock that the user waits for: after a second, and again when they have changed.
 *
 * <p>It also finds a deadlock: a wait for a lock held by an enclosing command, which in turn waits for this one.
 */
final class WaitNotice {

    private static final long FIRST_MILLIS = 1_000;
    private static final long LONGEST_MILLIS = 30_000;

    private final LockAdmin admin;
    private final String name;
    private final Share share;
    private final @Nullable String stack;
    private final Console console;
    private final Thread waiter;
    private final Thread thread = new Thread(this::run, "holdfast-wait-notice");

    // Guarded by this.
    private boolean stopped;
    private @Nullable String hopeless;

    /**
     * A notice that has not started.
     *
     * @param stack the locks of enclosing commands, as {@link ChildEnvironment#STACK} lists them
     * @param waiter the thread that waits for the lock; it is interrupted on a deadlock
     */
    WaitNotice(LockAdmin admin, String name, Share share, @Nullable String stack, Console console, Thread waiter) {
        this.admin = admin;
        this.name = name;
        this.share = share;
        this.stack = stack;
        this.console = console;
        this.waiter = waiter;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /**
     * Ends all reports and interrupts.
     *
     * @return the message about the deadlock, if there is one
     */
    @CanIgnoreReturnValue
    synchronized Optional<String> stop() {
        stopped = true;
        notifyAll();
        return Optional.ofNullable(hopeless);
    }

    private void run() {
        String said = "";
        try {
            for (long pause = FIRST_MILLIS; !pausedUntilStopped(pause); pause = Math.min(2 * pause, LONGEST_MILLIS)) {
                Optional<LockInfo> info = admin.inspect(name);
                String key = info.map(WaitNotice::key).orElse("");
                if (info.isPresent() && !key.equals(said)) {
                    said = key;
                    report(info.get());
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            // The wait does not depend on this, and reports what is wrong with the store.
            console.sayIfVerbose("can't determine who holds " + Printable.quote(name) + ": "
                    + Printable.escape(String.valueOf(e.getMessage())));
        }
    }

    private synchronized boolean pausedUntilStopped(long millis) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (long left = end - System.nanoTime(); !stopped && left > 0; left = end - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return stopped;
    }

    private synchronized void report(LockInfo info) {
        if (stopped) {
            return;
        }
        if (isHopeless(info)) {
            hopeless = "lock " + Printable.quote(name)
                    + " is held by an enclosing command, which waits for this one to end";
            waiter.interrupt();
            return;
        }
        console.say("waiting for " + Printable.quote(name) + ": " + Holders.describe(info));
    }

    /** Whether the share can't be granted as long as the enclosing commands run. */
    private boolean isHopeless(LockInfo info) {
        List<Long> around = ChildEnvironment.tokensAround(stack, name);
        long weight = 0;
        for (LockInfo.Holder holder : info.holders()) {
            if (around.stream().anyMatch(holder::hasToken)) {
                weight += holder.weight();
            }
        }
        return weight > 0
                // Others may release their permits. A reader waits only if a writer is queued before it.
                && (share.kind() != Share.Kind.PERMITS || weight + share.permits() > info.capacity());
    }

    /** Identifies the holders: differs when another claim holds the lock. */
    private static String key(LockInfo info) {
        return info.holders().stream()
                .map(holder -> holder.session() + " " + holder.claim())
                .collect(Collectors.joining(" "));
    }
}
