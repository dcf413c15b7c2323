package dev.holdfast.spring.advice;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** A method with an annotation of Holdfast, read and checked; carries out its calls. */
interface GuardedMethod {

    @Nullable
    Object invoke(MethodInvocation invocation) throws Throwable;

    /**
     * Checks that the client's store supports the locks of the method.
     *
     * @param opensClient whether to create the client; otherwise one that does not exist is not checked
     * @throws IllegalStateException if the store does not, or there is no client
     * @throws org.springframework.beans.factory.BeanCreationException if the client can't be created
     */
    void checkStore(boolean opensClient);
}
