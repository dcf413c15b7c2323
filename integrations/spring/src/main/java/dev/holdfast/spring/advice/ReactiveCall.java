package dev.holdfast.spring.advice;

import dev.holdfast.spring.LockLostEvent;
import dev.holdfast.spring.LockedWork;
import dev.holdfast.spring.advice.AcquisitionFailure.Call;
import dev.holdfast.spring.execution.AsyncExecution.FailureReaction;
import dev.holdfast.spring.execution.LockRequest;
import dev.holdfast.spring.execution.ReactiveExecution;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Mono;

/** The call of a method that returns a {@code Mono} or a similar type. A separate class, since Reactor is optional. */
final class ReactiveCall {

    private final ReactiveAdapter adapter;
    /** Never changed: each subscription copies it. */
    private final ProxyMethodInvocation template;

    private ReactiveCall(MethodInvocation invocation) {
        this.adapter =
                Objects.requireNonNull(ResultKind.adapter(invocation.getMethod().getReturnType()), "an adapter");
        this.template = (ProxyMethodInvocation) ((ProxyMethodInvocation) invocation).invocableClone();
    }

    /** Acquires locks on subscription, and calls the method. */
    static Object locked(
            MethodInvocation invocation,
            LockRequest request,
            Call call,
            AcquisitionFailure failure,
            Consumer<LockLostEvent> lossEvents) {
        ReactiveCall reactive = new ReactiveCall(invocation);
        FailureReaction<Publisher<?>> onFailure = cause -> reactive.publisher(failure.answer(call, cause));
        return reactive.adapter.fromPublisher(ReactiveExecution.publisher(
                request,
                reactive::proceed,
                failure.isCodeOfUsers() ? ReactiveExecution.elsewhere(onFailure) : onFailure,
                lossEvents));
    }

    /** Starts a task on subscription, which calls the method in the context of the subscriber. */
    static Object task(MethodInvocation invocation, TaskStart start) {
        ReactiveCall reactive = new ReactiveCall(invocation);
        return reactive.adapter.fromPublisher(Mono.deferContextual(context ->
                Mono.fromCompletionStage(() -> start.start(
                        ReactiveExecution.executor(),
                        () -> Mono.<Object>from(reactive.proceed())
                                .contextWrite(context)
                                .toFuture()))));
    }

    /** Fails each subscription, without a call. */
    static Object failed(MethodInvocation invocation, Throwable failure) {
        return new ReactiveCall(invocation).adapter.fromPublisher(Mono.error(failure));
    }

    private Publisher<?> proceed() throws Throwable {
        return publisher(template.invocableClone().proceed());
    }

    private Publisher<?> publisher(@Nullable Object returned) {
        return returned == null ? Mono.empty() : adapter.toPublisher(returned);
    }

    /** Starts a task with its work, and with the executor that calls it. */
    @FunctionalInterface
    interface TaskStart {
        CompletionStage<@Nullable Object> start(
                Executor executor, LockedWork<? extends CompletionStage<@Nullable Object>, ?> work);
    }
}
