package dev.holdfast.store.ledger.runtime;

import dev.holdfast.spi.StoreException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the housekeeping of a store in the background, from time to time, one run at a time. Thread-safe. */
public final class Housekeeper {

    private static final Logger LOG = LoggerFactory.getLogger(Housekeeper.class);

    private final Executor executor;
    private final LongSupplier clock;
    private final long every;
    private final Runnable work;
    private final AtomicBoolean running = new AtomicBoolean();
    private volatile long askedAt;

    /**
     * Creates the housekeeper of this work.
     *
     * @param every the pause between two runs, in the units of the clock
     * @param askedAt when the last run is assumed to have been
     */
    public Housekeeper(Executor executor, LongSupplier clock, long every, long askedAt, Runnable work) {
        this.executor = executor;
        this.clock = clock;
        this.every = every;
        this.askedAt = askedAt;
        this.work = work;
    }

    /** Starts a run if one may be due. Otherwise almost free; it never fails, because every command calls it. */
    public void consider() {
        boolean isBegun = false;
        try {
            long now = clock.getAsLong();
            if (now - askedAt >= every && running.compareAndSet(false, true)) {
                isBegun = true;
                askedAt = now;
                executor.execute(this::attempt);
            }
        } catch (RejectedExecutionException closing) {
            running.set(false);
        } catch (RuntimeException | Error e) {
            LOG.error("housekeeping could not start; it is retried later", e);
            if (isBegun) {
                running.set(false);
            }
        }
    }

    private void attempt() {
        try {
            work.run();
        } catch (StoreException e) {
            // The next command reports what is wrong to a caller who can act on it.
            LOG.debug("housekeeping was abandoned", e);
        } catch (RuntimeException | Error e) {
            LOG.error("housekeeping failed; it is retried later", e);
        } finally {
            running.set(false);
        }
    }
}
