package dev.holdfast.engine.election;

import dev.holdfast.election.CampaignOptions;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.execution.Once;
import dev.holdfast.engine.execution.SystemEnvironment;
import dev.holdfast.spi.ResourceName;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Runs the calls of a candidate: on the executor of its campaign, or each on a new thread. Thread-safe. */
final class CandidateThread {
    private final ClientContext context;
    private final ResourceName name;
    private final @Nullable Executor configured;

    /** The thread that is in the candidate now. */
    private volatile @Nullable Thread runner;

    CandidateThread(ClientContext context, ResourceName name, CampaignOptions options) {
        this.context = context;
        this.name = name;
        this.configured = options.executor().orElse(null);
    }

    /** A call of the candidate, which may throw anything. */
    interface CandidateCall {
        void run() throws Exception;
    }

    /** Calls the candidate on this thread; returns what it threw. */
    @Nullable
    Throwable call(CandidateCall action) {
        runner = Thread.currentThread();
        try {
            action.run();
            return null;
        } catch (Exception | Error e) {
            return e;
        } finally {
            runner = null;
        }
    }

    /** Whether this thread is in the candidate. */
    boolean isCurrent() {
        return Thread.currentThread() == runner;
    }

    void execute(Runnable task) {
        Once once = new Once(task);
        Executor executor = configured;
        if (executor == null) {
            executeOnNewThread(once);
            return;
        }
        // The executor may run the task in the calling thread, which must not be a thread of the store.
        context.callbacks().runListener(() -> {
            if (Failsafe.run("passing a step of the campaign to its executor", () -> executor.execute(once)) != null) {
                executeOnNewThread(once);
            }
        });
    }

    /**
     * On a callback thread if no thread can be started: an elected candidate must be called, and step down some day.
     */
    private void executeOnNewThread(Runnable task) {
        Once once = new Once(task);
        String threadName = "holdfast-candidate-" + ResourceName.printable(name.value());
        if (Failsafe.run("starting a candidate's thread", () -> SystemEnvironment.startThread(threadName, once))
                != null) {
            context.callbacks().run(once);
        }
    }
}
