package org.springframework.retry.annotation;

import java.lang.reflect.Method;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;

/** In place of the advisor of spring-retry, of which the start knows the package. */
public class RetryStandIn extends StaticMethodMatcherPointcutAdvisor {

    private static final long serialVersionUID = 1L;

    public RetryStandIn() {
        super((MethodInterceptor) invocation -> invocation.proceed());
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return method.getName().equals("append");
    }
}
