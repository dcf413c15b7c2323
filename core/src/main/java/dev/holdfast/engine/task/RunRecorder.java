package dev.holdfast.engine.task;

import dev.holdfast.admin.RecordedRun.Outcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.client.RunText;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command.RecordRun;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits.Feature;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records a run of a task when it ends. No caller waits for the reply, and the task does not fail if its history can't
 * be written; but a store that executes commands one after the other executes this one before the end of the hold. A
 * repetition replaces what an earlier attempt wrote. Thread-safe.
 */
final class RunRecorder {
    private static final Logger log = LoggerFactory.getLogger(RunRecorder.class);

    private static final int ATTEMPTS = 3;

    private final Partition partition;
    private final ResourceName task;
    private final long token;

    /** By the wall clock, only for people. */
    private final long startMillis;

    private volatile Outcome outcome = Outcome.CLOSED;
    private volatile String failure = "";

    /** The run begins. */
    RunRecorder(Partition partition, ResourceName task, long token) {
        this.partition = partition;
        this.task = task;
        this.token = token;
        this.startMillis = context().environment().wallMillis();
    }

    private ClientContext context() {
        return partition.context;
    }

    /** The task has returned, or thrown an exception; called before its hold ends. */
    void taskEnded(@Nullable Throwable thrown) {
        // Without the message, which may contain data that is none of the readers' business.
        failure = thrown == null ? "" : thrown.getClass().getName();
        outcome = thrown == null ? Outcome.SUCCEEDED : Outcome.FAILED;
    }

    /** The hold ends. Called without any lock. */
    void record(boolean isLost) {
        RecordRun run = new RecordRun(
                task,
                token,
                RunText.of(
                        isLost ? Outcome.LOST : outcome,
                        startMillis,
                        context().environment().wallMillis(),
                        context().options().label(),
                        failure));
        context().observers().taskRun(task, RunText.read(new Reply.Runs.Run(token, run.run())));
        if (context().traits().has(Feature.RUNS)) {
            send(run, 1);
        }
    }

    private void send(RecordRun run, int attempt) {
        partition.wire.send(run, CallerMode.ASYNC, new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {}

            @Override
            public void failure(StoreException failure, long sentAt) {
                if (attempt < ATTEMPTS && failure.reason() == StoreException.Reason.UNAVAILABLE) {
                    Backoff.RESEND.retry(context().environment(), attempt, () -> send(run, attempt + 1));
                } else {
                    log.debug("resource={} token={} a run was not recorded", task, token, failure);
                }
            }
        });
    }
}
