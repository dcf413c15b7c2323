package dev.holdfast.spring.advice;

import dev.holdfast.spring.Locked;
import dev.holdfast.spring.execution.WorkThreads;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.annotation.ReflectiveProcessor;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Registers for native images what is used by reflection: the locked method, its fallback, the properties of its
 * parameters, which expressions read, and the fields of executors.
 */
public final class LockedReflectiveProcessor implements ReflectiveProcessor {

    private final BindingReflectionHintsRegistrar bindings = new BindingReflectionHintsRegistrar();

    /** Called by Spring. */
    public LockedReflectiveProcessor() {}

    @Override
    public void registerReflectionHints(ReflectionHints hints, AnnotatedElement element) {
        if (!(element instanceof Method method)) {
            return;
        }
        hints.registerMethod(method, ExecutableMode.INVOKE);
        WorkThreads.registerHints(hints);
        Locked locked = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
        if (locked == null) {
            return;
        }
        if (!locked.key().isEmpty() || !locked.condition().isEmpty()) {
            bindings.registerReflectionHints(hints, method.getGenericParameterTypes());
        }
        if (!locked.fallback().isEmpty()) {
            Arrays.stream(method.getDeclaringClass().getDeclaredMethods())
                    .filter(candidate -> candidate.getName().equals(locked.fallback()))
                    .forEach(candidate -> hints.registerMethod(candidate, ExecutableMode.INVOKE));
        }
    }
}
