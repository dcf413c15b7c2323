package dev.holdfast.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.support.Batcher;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** The state of a lane needs no lock: its round trips are sequential, and each sees the writes of the one before. */
@JCStressTest
@Outcome(id = "1, 2, 2", expect = ACCEPTABLE, desc = "One after the other.")
@Outcome(id = "2, 1, 2", expect = ACCEPTABLE, desc = "The other way round.")
@Outcome(expect = FORBIDDEN, desc = "Two trips at a time, or one that did not see the other.")
@State
public class BatcherLane {

    private static final Command BLOCKING = new Command.Retire(new SessionId("waits"));
    private static final Command ASYNC = new Command.Retire(new SessionId("goes-on"));

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Batcher batcher = new Batcher(1, (command, lanes) -> 0, 8, true, tasks::add, this::make);

    // The state of the lane, used only by round trips until both commands are answered.
    private int count;
    private int ofWaits;
    private int ofGoesOn;

    private void make(int lane, List<Batcher.Call> calls) {
        for (Batcher.Call call : calls) {
            count++;
            if (call.command() == BLOCKING) {
                ofWaits = count;
            } else {
                ofGoesOn = count;
            }
            call.answer(new Reply.Done());
        }
    }

    /**
     * Waits for the reply, and makes round trips that no thread makes meanwhile: the next one may be the other
     * thread's.
     */
    private void send(Command command, CallerMode caller) {
        CompletableFuture<Reply> answer = batcher.submit(command, caller).toCompletableFuture();
        while (!answer.isDone()) {
            Runnable task = tasks.poll();
            if (task != null) {
                task.run();
            } else {
                Thread.onSpinWait();
            }
        }
    }

    @Actor
    public void waits(III_Result r) {
        send(BLOCKING, CallerMode.BLOCKING);
        r.r1 = ofWaits;
    }

    @Actor
    public void resumes(III_Result r) {
        send(ASYNC, CallerMode.ASYNC);
        r.r2 = ofGoesOn;
    }

    @Arbiter
    public void after(III_Result r) {
        r.r3 = count;
    }
}
