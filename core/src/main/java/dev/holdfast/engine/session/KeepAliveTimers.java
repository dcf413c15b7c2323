package dev.holdfast.engine.session;

import dev.holdfast.Environment;
import dev.holdfast.engine.client.ClientOptions;
import dev.holdfast.engine.time.Backoff;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The timers of a session: the next keep-alive, the next check of the deadline, and the pause after a failure. Guarded
 * by the lock of the keeper.
 */
final class KeepAliveTimers {

    /** The pauses before a session is opened or renewed again, up to {@link #MAX_RETRY_NANOS}. */
    private static final Backoff RENEWALS = Backoff.from(Duration.ofMillis(20), 6);

    private static final long MAX_RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    static final int CHECKS_PER_KEEP_ALIVE = 3;

    /**
     * A keep-alive without an answer is retried after this fraction of the ttl: less than a third, even if the timer is
     * late by a quarter of that. After the regular interval, this leaves a quarter of the ttl for the retry, or a tenth
     * if slow round trips make the margin as large as it can be.
     */
    private static final int TIMEOUTS_PER_TTL = 4;

    private final Environment environment;
    private final ClientOptions options;

    private int failures;

    /** How many sessions in a row the store has ended shortly after it opened them. */
    private int briefInRow;

    /** The next session is opened after a pause. */
    private boolean isPausing;

    private Environment.@Nullable Timer renewal;
    private Environment.@Nullable Timer check;

    KeepAliveTimers(Environment environment, ClientOptions options) {
        this.environment = environment;
        this.options = options;
    }

    /** How long a keep-alive of a session waits for its answer, unless all commands wait for less. */
    static Duration responseTimeout(Duration ttl) {
        return ttl.dividedBy(TIMEOUTS_PER_TTL);
    }

    /**
     * The interval between keep-alives of a session with this ttl. If the store lengthens the ttl, it grows in
     * proportion.
     */
    long keepAliveNanos(long grantedTtl) {
        long interval = options.keepAliveEvery().toNanos();
        long wanted = options.sessionTtl().toNanos();
        return grantedTtl == wanted ? interval : (long) (interval * ((double) grantedTtl / wanted));
    }

    // ---- The timers of the session

    /** Renews the session after a delay, instead of at the time that was scheduled before. */
    void renewIn(long delay, Runnable renew) {
        cancel(renewal);
        renewal = environment.scheduleRenewal(delay, renew);
    }

    /** Checks the session at its deadline, and before. */
    void checkIn(long left, Runnable action) {
        cancel(check);
        // Timers stop while the machine is suspended: a check in between soon finds that time has passed.
        long soon = options.keepAliveEvery().toNanos() / CHECKS_PER_KEEP_ALIVE;
        check = environment.scheduleRenewal(Math.min(left, soon), action);
    }

    /** Stops renewing and checking the session. */
    void cancel() {
        cancel(renewal);
        cancel(check);
    }

    private static void cancel(Environment.@Nullable Timer timer) {
        if (timer != null) {
            timer.cancel();
        }
    }

    // ---- Pauses

    void failed() {
        failures++;
    }

    void succeeded() {
        failures = 0;
    }

    /** The pause before the session is opened or renewed again: at most a third of the interval. */
    long retryDelay() {
        long most = Math.min(MAX_RETRY_NANOS, options.keepAliveEvery().toNanos() / 3);
        return RENEWALS.pauseAtMost(environment, failures, Math.max(RENEWALS.firstNanos(), most));
    }

    /**
     * Begins the pause before the next session is opened: none, or a growing one if the store ends each session shortly
     * after it opened it.
     *
     * @param lastedNanos how long the ended session lasted
     * @return the length of the pause; 0 for none
     */
    long beginPause(long lastedNanos) {
        boolean wasBrief = lastedNanos < Backoff.RESEND.nanosAfter(briefInRow + 1);
        briefInRow = wasBrief ? briefInRow + 1 : 0;
        isPausing = briefInRow > 1;
        return isPausing ? Backoff.RESEND.pause(environment, briefInRow - 1) : 0;
    }

    boolean isPausing() {
        return isPausing;
    }

    void endPause() {
        isPausing = false;
    }
}
