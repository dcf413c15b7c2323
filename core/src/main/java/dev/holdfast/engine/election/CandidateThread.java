package dev.holdfast.engine.election;

import dev.holdfast.election.CampaignOptions;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.execution.Once;
import dev.holdfast.engine.execution.SystemEnvironment;
import dev.holdfast.spi.ResourceName;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Runs the steps of a candidate: on the executor of its campaign, or on a thread of their own. Thread-safe. */
final class CandidateThread {
    private final ClientContext context;
    private final ResourceName name;
    private final @Nullable Executor chosen;
    /** The thread that runs the candidate just now. */
    private volatile @Nullable Thread runner;

    CandidateThread(ClientContext context, ResourceName name, CampaignOptions options) {
        this.context = context;
        this.name = name;
        this.chosen = options.executor().orElse(null);
    }

    /** A call of the candidate, which may throw anything. */
    interface CandidateCall {
        void run() throws Exception;
    }

    /** Calls the candidate on the present thread; answers what it threw. */
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

    /** Whether the candidate is being called on the present thread. */
    boolean isCurrent() {
        return Thread.currentThread() == runner;
    }

    void execute(Runnable task) {
        Once once = new Once(task);
        Executor executor = chosen;
        if (executor == null) {
            onOwnThread(once);
            return;
        }
        // It may run the task in the thread that brings it: that must not be one of a store.
        context.callbacks().runLossListener(() -> {
            if (Failsafe.run("handing a step of the campaign to its executor", () -> executor.execute(once)) != null) {
                onOwnThread(once);
            }
        });
    }

    /**
     * On a callback thread where none of its own can be started: who was elected must be told, and give way some time.
     */
    private void onOwnThread(Runnable task) {
        Once once = new Once(task);
        String threadName = "holdfast-candidate-" + ResourceName.printable(name.value());
        if (Failsafe.run("a thread for a candidate", () -> SystemEnvironment.startThread(threadName, once)) != null) {
            context.callbacks().run(once);
        }
    }
}
