package dev.holdfast.spring.advice;

import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/** When the work of a method ends: when it returns, or when its stage or publisher completes. */
enum ResultKind {
    /** The work ends when the method returns. */
    VALUE,
    /** The work ends when the stage completes. */
    STAGE,
    /** The work ends when the publisher of at most one value completes. */
    REACTIVE;

    private static final boolean REACTOR_PRESENT =
            ClassUtils.isPresent("reactor.core.publisher.Mono", ResultKind.class.getClassLoader());

    /**
     * The kind of a method, by its return type.
     *
     * @throws IllegalStateException if the work continues after the return in a way that can't be observed
     */
    static ResultKind of(AnnotatedMethod method) {
        Class<?> type = method.method().getReturnType();
        if (KotlinDetector.isSuspendingFunction(method.method())) {
            throw method.misuse(
                    "suspending functions are not supported. Return a Mono, or call LockTemplate in the " + "function");
        }
        if (type == CompletionStage.class || type == CompletableFuture.class) {
            return STAGE;
        }
        if (goesOn(type)) {
            throw method.misuse("it returns " + type.getSimpleName()
                    + ", whose work continues after the method has returned and the lock is released. Return "
                    + "a value, a CompletionStage, a CompletableFuture or a Mono");
        }
        return adapter(type) == null ? VALUE : REACTIVE;
    }

    /** Whether objects of a type represent work that may continue, and whose end can't be observed. */
    private static boolean goesOn(Class<?> type) {
        @Nullable ReactiveAdapter adapter = adapter(type);
        return adapter != null
                ? adapter.isMultiValue()
                : Future.class.isAssignableFrom(type)
                        || CompletionStage.class.isAssignableFrom(type)
                        || BaseStream.class.isAssignableFrom(type)
                        || Iterator.class.isAssignableFrom(type);
    }

    static @Nullable ReactiveAdapter adapter(Class<?> type) {
        if (!REACTOR_PRESENT || Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type)) {
            return null;
        }
        return ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
    }

    /** Whether a value returned as a plain one represents work that continues after the method. */
    static boolean goesOn(Object returned) {
        return returned instanceof Future
                || returned instanceof CompletionStage
                || returned instanceof BaseStream
                || returned instanceof Iterator
                || adapter(returned.getClass()) != null;
    }

    /** The value for a skipped call, by return type; for a stage or a publisher, its final value. */
    static @Nullable Object nothing(Class<?> type) {
        return type == Optional.class ? Optional.empty() : null;
    }
}
