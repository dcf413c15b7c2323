package dev.holdfast.spring.advice;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** The root object of expressions in annotations: the call. Public, since expressions use reflection. */
public final class ExpressionRoot {

    private final Object target;
    private final Method method;
    private final @Nullable Object[] args;

    ExpressionRoot(Object target, Method method, @Nullable Object[] args) {
        this.target = target;
        this.method = method;
        this.args = args;
    }

    /** The bean. */
    public Object getTarget() {
        return target;
    }

    /** The name of the method. */
    public String getMethodName() {
        return method.getName();
    }

    /** The arguments of the call. */
    public @Nullable Object[] getArgs() {
        return args.clone();
    }
}
