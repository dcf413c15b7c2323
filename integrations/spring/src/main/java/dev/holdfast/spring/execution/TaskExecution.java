package dev.holdfast.spring.execution;

import dev.holdfast.Hold;
import dev.holdfast.spring.LockLostEvent;
import dev.holdfast.spring.LockedWork;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs the work of a scheduled task under its hold. */
public final class TaskExecution {

    private TaskExecution() {}

    /** Runs work as the task of a hold, and reports a loss. */
    public static <T extends @Nullable Object> T run(
            Hold hold, String job, String work, LockedWork<T, ?> task, Consumer<LockLostEvent> lossEvents)
            throws Exception {
        List<String> names = List.of(job);
        hold.onLost(loss -> lossEvents.accept(new LockLostEvent(work, names, loss)));
        HeldStack stack = HeldStack.push(HeldLocks.of(hold, names));
        try {
            return task.run();
        } catch (Exception | Error e) {
            throw e;
        } catch (Throwable other) {
            throw new UndeclaredThrowableException(other);
        } finally {
            stack.pop();
        }
    }
}
