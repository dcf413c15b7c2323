package dev.holdfast.spring.advice;

import dev.holdfast.HoldfastException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.spring.LockFailureHandler;
import dev.holdfast.spring.LockFailureHandler.LockFailure;
import dev.holdfast.spring.Locked;
import dev.holdfast.spring.TimeoutReaction;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Produces the result of a call that was not run because its locks could not be acquired. */
@FunctionalInterface
interface AcquisitionFailure {

    /** The result of the call. For a method that returns a stage or a publisher, null completes it without a value. */
    @Nullable
    Object answer(Call call, HoldfastException failure) throws Throwable;

    /** Whether it runs user code, which may block. */
    default boolean isCodeOfUsers() {
        return false;
    }

    /** A result from user code. */
    record ByUser(AcquisitionFailure reaction) implements AcquisitionFailure {

        @Override
        public @Nullable Object answer(Call call, HoldfastException failure) throws Throwable {
            return reaction.answer(call, failure);
        }

        @Override
        public boolean isCodeOfUsers() {
            return true;
        }
    }

    /** A call that was not run. */
    record Call(Object target, List<@Nullable Object> arguments, List<String> names) {}

    /**
     * Reads the attributes of an annotation.
     *
     * @throws IllegalStateException if they contradict each other, or name something that does not exist
     */
    static AcquisitionFailure of(AnnotatedMethod where, Locked locked) {
        String fallback = where.text("fallback", locked.fallback());
        String handler = where.text("failureHandler", locked.failureHandler());
        // The default applies to methods without attributes of their own.
        boolean isPlain = fallback.isEmpty() && handler.isEmpty();
        TimeoutReaction otherwise = isPlain ? where.defaults().onTimeout() : TimeoutReaction.THROW;
        boolean skips = where.single("onTimeout", locked.onTimeout(), otherwise) == TimeoutReaction.SKIP;
        if ((fallback.isEmpty() ? 0 : 1) + (handler.isEmpty() ? 0 : 1) + (skips ? 1 : 0) > 1) {
            throw where.misuse(
                    "onTimeout = SKIP, fallback and failureHandler exclude each other; set only one of them");
        }
        if (!fallback.isEmpty()) {
            return new ByUser(fallback(where, fallback));
        }
        if (!handler.isEmpty()) {
            return new ByUser(handler(where, handler));
        }
        return skips ? skip(where) : rethrow();
    }

    private static AcquisitionFailure rethrow() {
        return (call, failure) -> {
            throw failure;
        };
    }

    private static AcquisitionFailure skip(AnnotatedMethod where) {
        Class<?> type = where.method().getReturnType();
        if (type.isPrimitive() && type != void.class) {
            throw where.misuse("onTimeout = SKIP has no " + type
                    + " to return when the method is skipped. Return an Optional or a "
                    + ClassUtils.resolvePrimitiveIfNecessary(type).getSimpleName() + ", or name a fallback");
        }
        return (call, failure) -> {
            if (failure instanceof LockWaitTimeoutException) {
                return ResultKind.nothing(type);
            }
            throw failure;
        };
    }

    private static AcquisitionFailure handler(AnnotatedMethod where, String name) {
        if (!where.beans().containsBean(name)) {
            throw where.misuse("there is no bean '" + name + "' for failureHandler");
        }
        Method method = where.method();
        return (call, failure) -> where.beans()
                .getBean(name, LockFailureHandler.class)
                .handle(new LockFailure(call.names(), method, call.target(), call.arguments(), failure));
    }

    private static AcquisitionFailure fallback(AnnotatedMethod where, String name) {
        Class<?>[] plain = where.method().getParameterTypes();
        Class<?>[] withException = Arrays.copyOf(plain, plain.length + 1);
        withException[plain.length] = LockWaitTimeoutException.class;
        Method withFailure = ReflectionUtils.findMethod(where.targetClass(), name, withException);
        Method found = withFailure != null ? withFailure : ReflectionUtils.findMethod(where.targetClass(), name, plain);
        if (found == null) {
            throw where.misuse("there is no fallback method " + name
                    + " with the same parameters, or with the same parameters and a LockWaitTimeoutException");
        }
        if (!ClassUtils.isAssignable(where.method().getReturnType(), found.getReturnType())) {
            throw where.misuse("the fallback " + name + " returns "
                    + found.getReturnType().getSimpleName() + " instead of "
                    + where.method().getReturnType().getSimpleName());
        }
        ReflectionUtils.makeAccessible(found);
        return (call, failure) -> {
            if (!(failure instanceof LockWaitTimeoutException)) {
                throw failure;
            }
            List<@Nullable Object> arguments = new ArrayList<>(call.arguments());
            if (withFailure != null) {
                arguments.add(failure);
            }
            try {
                return found.invoke(call.target(), arguments.toArray());
            } catch (InvocationTargetException e) {
                throw e.getTargetException();
            }
        };
    }
}
