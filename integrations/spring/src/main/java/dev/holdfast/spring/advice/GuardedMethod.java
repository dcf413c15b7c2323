package dev.holdfast.spring.advice;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** A method with one of our annotations, which was read and checked, and what a call of it does. */
interface GuardedMethod {

    @Nullable
    Object invoke(MethodInvocation invocation) throws Throwable;

    /**
     * Makes sure that the store of the client can do it, if the client is there.
     *
     * @throws IllegalStateException if it can't, or there is no client
     */
    void checkStore();
}
