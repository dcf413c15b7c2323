package dev.holdfast.spring.advice;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** A method with one of our annotations, which was read and checked, and what a call of it does. */
interface GuardedMethod {

    @Nullable
    Object invoke(MethodInvocation invocation) throws Throwable;

    /**
     * Makes sure that the store of the client can do it.
     *
     * @param opensClient whether the client is made for it; otherwise one that was not made is not checked
     * @throws IllegalStateException if it can't, or there is no client
     * @throws org.springframework.beans.factory.BeanCreationException if the client can't be made
     */
    void checkStore(boolean opensClient);
}
