package dev.holdfast.spring.advice;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Names of methods: for people and, by default, for their locks. */
final class MethodNames {

    private MethodNames() {}

    /** Such as {@code com.acme.Accounts#withdraw(Transfer,int)}. */
    static String of(Method method, Class<?> targetClass) {
        return targetClass.getName() + "#" + method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(",", "(", ")"));
    }

    /**
     * The exception for an annotation, such as {@code @Locked on com.acme.Accounts#withdraw(Transfer): maxWait ...}.
     */
    static IllegalStateException misuse(String annotation, String method, String problem) {
        return new IllegalStateException("@" + annotation + " on " + method + ": " + problem);
    }
}
