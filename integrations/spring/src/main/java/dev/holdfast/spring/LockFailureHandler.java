package dev.holdfast.spring;

import dev.holdfast.HoldfastException;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides what comes of a call whose lock could not be acquired; a bean that {@link Locked#failureHandler()} names.
 *
 * <p><b>Thread-safety:</b> called by many threads at a time.
 */
@FunctionalInterface
public interface LockFailureHandler {

    /**
     * Answers the call, which was not run. For a method that returns a stage or a {@code Mono} this is called when the
     * acquisition has failed, where that would be called, and answers one.
     *
     * @return what the caller gets
     * @throws Throwable what the caller gets instead, such as the cause itself
     */
    @Nullable
    Object handle(LockFailure failure) throws Throwable;

    /**
     * A call whose lock could not be acquired.
     *
     * @param names the locks
     * @param method the method that was called
     * @param target the bean
     * @param arguments what it was called with
     * @param cause why: {@link dev.holdfast.LockWaitTimeoutException} if others kept the lock, {@link
     *     dev.holdfast.StoreUnavailableException} if the store did not answer
     */
    record LockFailure(
            List<String> names,
            Method method,
            Object target,
            List<@Nullable Object> arguments,
            HoldfastException cause) {}
}
