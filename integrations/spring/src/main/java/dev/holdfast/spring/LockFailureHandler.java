package dev.holdfast.spring;

import dev.holdfast.HoldfastException;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides the result of a call whose lock could not be acquired; a bean named by {@link Locked#failureHandler()}.
 *
 * <p><b>Thread-safety:</b> called by several threads at the same time.
 */
@FunctionalInterface
public interface LockFailureHandler {

    /**
     * Returns the result of a call that was not run. For a method that returns a stage or a {@code Mono}, it is called
     * when the acquisition has failed, on the thread that would call the method, and returns a stage or a {@code Mono}.
     *
     * @return the result for the caller
     * @throws Throwable the exception for the caller, such as the cause itself
     */
    @Nullable
    Object handle(LockFailure failure) throws Throwable;

    /**
     * A call whose lock could not be acquired.
     *
     * @param names the locks
     * @param method the method that was called
     * @param target the bean
     * @param arguments the arguments of the call
     * @param cause the reason: {@link dev.holdfast.LockWaitTimeoutException} if others kept the lock, {@link
     *     dev.holdfast.StoreUnavailableException} if the store did not answer
     */
    record LockFailure(
            List<String> names,
            Method method,
            Object target,
            List<@Nullable Object> arguments,
            HoldfastException cause) {}
}
