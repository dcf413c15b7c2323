package dev.holdfast.spring.advice;

import dev.holdfast.spring.execution.CallingThread;
import dev.holdfast.spring.execution.WorkThreads;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * Decides which thread calls a method that returns a stage: never one of the client. With {@code @Async} it is the
 * thread from Spring, which has nothing else to do until the stage completes.
 */
final class AsyncCall {

    private final SingletonSupplier<WorkThreads> threads;

    AsyncCall(BeanFactory beans) {
        threads = SingletonSupplier.of(() -> WorkThreads.of(beans));
    }

    /**
     * Starts a call.
     *
     * @param start starts the call, with the executor for the method
     * @throws InterruptedException if the thread from Spring is interrupted before it calls the method
     */
    <T extends @Nullable Object> CompletableFuture<T> start(
            MethodInvocation invocation, Function<? super Executor, ? extends CompletionStage<T>> start)
            throws InterruptedException {
        return isAsync(invocation)
                ? CallingThread.call(start)
                : start.apply(Objects.requireNonNull(threads.obtain()).forCall())
                        .toCompletableFuture();
    }

    private static boolean isAsync(MethodInvocation invocation) {
        Object target = invocation.getThis();
        return target != null
                && ((ProxyMethodInvocation) invocation).getProxy() instanceof Advised advised
                && Arrays.stream(advised.getAdvisors())
                        .anyMatch(each -> isAsync(each, invocation.getMethod(), AopUtils.getTargetClass(target)));
    }

    private static boolean isAsync(Advisor advisor, Method method, Class<?> type) {
        return advisor.getAdvice() instanceof AsyncExecutionInterceptor
                && advisor instanceof PointcutAdvisor pointcut
                && pointcut.getPointcut().getClassFilter().matches(type)
                && pointcut.getPointcut().getMethodMatcher().matches(method, type);
    }
}
