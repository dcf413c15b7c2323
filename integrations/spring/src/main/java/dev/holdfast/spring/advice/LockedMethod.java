package dev.holdfast.spring.advice;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockOptions;
import dev.holdfast.spring.LockInterruptedException;
import dev.holdfast.spring.LockLostEvent;
import dev.holdfast.spring.LockMode;
import dev.holdfast.spring.Locked;
import dev.holdfast.spring.advice.AcquisitionFailure.Call;
import dev.holdfast.spring.execution.AsyncExecution;
import dev.holdfast.spring.execution.HeldLocks;
import dev.holdfast.spring.execution.LockRequest;
import dev.holdfast.spring.execution.LockSettings;
import dev.holdfast.spring.execution.LockedExecution;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.util.StringUtils;

/** A method with {@link Locked}: reads and checks the annotation once, and carries out the calls. */
final class LockedMethod implements GuardedMethod {

    private final AnnotatedMethod where;
    private final ResultKind kind;
    private final LockSettings settings;
    private final LockNames names;
    private final @Nullable CallExpression condition;
    private final AcquisitionFailure failure;
    private final ClientReference client;
    private final LockedExecution execution;
    private final AsyncCall async;
    private final Consumer<LockLostEvent> lossEvents;

    /**
     * Reads an annotation.
     *
     * @throws IllegalStateException if it is invalid
     */
    LockedMethod(AnnotatedMethod where, Locked locked, LockedExecution execution, Consumer<LockLostEvent> lossEvents) {
        this.where = where;
        this.kind = ResultKind.of(where);
        this.settings = settings(where, locked);
        this.names = LockNames.of(where, locked.name(), locked.key());
        String when = where.expression("condition", locked.condition());
        this.condition = when.isEmpty() ? null : new CallExpression(where, "condition", when);
        this.failure = AcquisitionFailure.of(where, locked);
        this.client = new ClientReference(where, where.text("client", locked.client()));
        this.execution = execution;
        this.async = new AsyncCall(where.beans());
        this.lossEvents = lossEvents;
    }

    private static LockSettings settings(AnnotatedMethod where, Locked locked) {
        int capacity = capacity(where, locked);
        AcquireOptions acquire = AcquireOptions.defaults();
        try {
            acquire = acquire.withMaxWait(where.duration("maxWait", locked.maxWait())
                    .orElse(where.defaults().maxWait()));
            acquire = where.duration("maxHold", locked.maxHold())
                    .map(acquire::withMaxHold)
                    .orElse(acquire);
        } catch (IllegalArgumentException e) {
            throw where.misuse("a duration is out of range", e);
        }
        String message = where.text("message", locked.message());
        try {
            acquire = message.isEmpty() ? acquire : acquire.withMessage(message);
        } catch (IllegalArgumentException e) {
            throw where.misuse("the message is not valid", e);
        }
        return new LockSettings(
                locked.mode(),
                locked.permits(),
                capacity,
                locked.barging() ? LockOptions.barging() : LockOptions.fair(),
                acquire,
                where.single("onLoss", locked.onLoss(), where.defaults().onLoss()),
                where.single(
                        "surroundingTransaction",
                        locked.surroundingTransaction(),
                        where.defaults().surroundingTransaction()));
    }

    private static int capacity(AnnotatedMethod where, Locked locked) {
        String text = where.text("capacityString", locked.capacityString());
        if (!text.isEmpty() && locked.capacity() != 0) {
            throw where.misuse("capacity and capacityString exclude each other; set only one of them");
        }
        int capacity = locked.capacity();
        try {
            capacity = text.isEmpty() ? capacity : Integer.parseInt(StringUtils.trimAllWhitespace(text));
        } catch (NumberFormatException e) {
            throw where.misuse("capacityString = \"" + text + "\" is not a number", e);
        }
        boolean wantsPermits = locked.mode() == LockMode.PERMITS;
        if (!wantsPermits && (capacity != 0 || locked.permits() != 1)) {
            throw where.misuse("permits and capacity are for mode = PERMITS, but the mode is " + locked.mode());
        }
        if (wantsPermits && (locked.permits() < 1 || capacity < locked.permits())) {
            throw where.misuse("permits (" + locked.permits() + ") must be 1 to capacity (" + capacity + ")");
        }
        return capacity;
    }

    @Override
    public void checkStore(boolean opensClient) {
        client.forCheck(opensClient).ifPresent(holdfast -> {
            try {
                new LockRequest(holdfast, List.of(names.sample()), settings, where.name()).check();
            } catch (IllegalArgumentException e) {
                throw where.misuse("the store doesn't support this", e);
            }
        });
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = Objects.requireNonNull(invocation.getThis(), "a bean");
        @Nullable Object[] arguments = invocation.getArguments();
        if (condition != null && !isTrue(condition, target, arguments)) {
            return invocation.proceed();
        }
        Call call = new Call(target, Arrays.asList(arguments.clone()), names.of(target, arguments));
        Holdfast holdfast;
        try {
            holdfast = client.get();
        } catch (HoldfastException e) {
            return withoutClient(invocation, call, e);
        }
        LockRequest request = new LockRequest(holdfast, call.names(), settings, where.name());
        return switch (kind) {
            case VALUE -> invokeNow(invocation, request, call);
            case STAGE -> invokeAsync(invocation, request, call);
            case REACTIVE -> ReactiveCall.locked(invocation, request, call, failure, lossEvents);
        };
    }

    private @Nullable Object withoutClient(MethodInvocation invocation, Call call, HoldfastException cause)
            throws Throwable {
        try {
            @Nullable Object answer = failure.answer(call, cause);
            return kind == ResultKind.STAGE ? stage(answer) : answer;
        } catch (Throwable thrown) {
            return switch (kind) {
                case VALUE -> throw thrown;
                case STAGE -> CompletableFuture.failedFuture(thrown);
                case REACTIVE -> ReactiveCall.failed(invocation, thrown);
            };
        }
    }

    private static boolean isTrue(CallExpression condition, Object target, @Nullable Object[] arguments) {
        if (condition.evaluate(target, arguments) instanceof Boolean bool) {
            return bool;
        }
        throw condition.failure("is neither true nor false", null);
    }

    @SuppressWarnings("NullAway") // That work may return null is checked by newer compilers only.
    private @Nullable Object invokeNow(MethodInvocation invocation, LockRequest request, Call call) throws Throwable {
        HeldLocks locks;
        try {
            locks = execution.acquire(request);
        } catch (HoldfastException e) {
            return failure.answer(call, e);
        } catch (InterruptedException e) {
            throw interrupted(request, e);
        }
        @Nullable Object result = execution.run(request, locks, invocation::proceed);
        if (result != null && ResultKind.goesOn(result)) {
            throw where.misuse("it returned a " + result.getClass().getName()
                    + ", whose work continues although the lock is released. Declare CompletionStage or Mono "
                    + "as the return type, so that the lock is held until the result completes");
        }
        return result;
    }

    private Exception interrupted(LockRequest request, InterruptedException cause) {
        boolean isDeclared = Arrays.stream(where.method().getExceptionTypes())
                .anyMatch(type -> type.isAssignableFrom(InterruptedException.class));
        if (isDeclared) {
            return cause;
        }
        Thread.currentThread().interrupt();
        return new LockInterruptedException(
                request.names(), where.name(), request.client().toString(), cause);
    }

    private CompletableFuture<Object> invokeAsync(MethodInvocation invocation, LockRequest request, Call call)
            throws Exception {
        MethodInvocation later = ((ProxyMethodInvocation) invocation).invocableClone();
        try {
            return async.start(
                    invocation,
                    executor -> AsyncExecution.start(
                            request,
                            () -> stage(later.proceed()),
                            cause -> AsyncExecution.call(
                                    failure.isCodeOfUsers() ? executor : Runnable::run,
                                    () -> stage(failure.answer(call, cause))),
                            lossEvents,
                            executor));
        } catch (InterruptedException e) {
            throw interrupted(request, e);
        }
    }

    @SuppressWarnings("unchecked") // What a method returns that declares a stage.
    static CompletionStage<Object> stage(@Nullable Object returned) {
        return returned == null ? CompletableFuture.completedFuture(null) : (CompletionStage<Object>) returned;
    }
}
