package dev.holdfast.spring.advice;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

/** How methods are named: for people and, where nothing else is said, as locks. */
final class MethodNames {

    private MethodNames() {}

    /** As {@code com.acme.Accounts#withdraw(Transfer,int)}. */
    static String of(Method method, Class<?> targetClass) {
        return targetClass.getName() + "#" + method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(",", "(", ")"));
    }

    /** A failure of an annotation, as {@code @Locked on com.acme.Accounts#withdraw(Transfer): maxWait ...}. */
    static IllegalStateException misuse(String annotation, String method, String problem) {
        return new IllegalStateException("@" + annotation + " on " + method + ": " + problem);
    }
}
