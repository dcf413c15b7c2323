package dev.holdfast.spring.advice;

import dev.holdfast.spring.Locked;
import dev.holdfast.spring.ScheduledLock;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.annotation.AnnotationUtils;

/** Finds the methods of a class that have an annotation of Holdfast, valid or not. */
final class AnnotatedMethods {

    private static final List<Class<? extends Annotation>> ANNOTATIONS = List.of(Locked.class, ScheduledLock.class);

    private AnnotatedMethods() {}

    /** An annotation of a method. */
    record Use(Method method, Class<? extends Annotation> annotation) {

        /** The attributes of the annotation. */
        <A extends Annotation> A values(Class<A> type) {
            return AnnotationAdvisor.annotations(method, method.getDeclaringClass())
                    .get(type)
                    .synthesize();
        }

        IllegalStateException misuse(Class<?> type, String problem) {
            return MethodNames.misuse(annotation.getSimpleName(), MethodNames.of(method, type), problem);
        }
    }

    static List<Use> in(Class<?> type) {
        return type.getName().startsWith("org.springframework.")
                ? List.of()
                : ANNOTATIONS.stream().flatMap(each -> uses(each, type)).toList();
    }

    private static Stream<Use> uses(Class<? extends Annotation> annotation, Class<?> type) {
        if (!AnnotationUtils.isCandidateClass(type, annotation)) {
            return Stream.empty();
        }
        MetadataLookup<Boolean> isUse = method ->
                (!method.isSynthetic() && AnnotationAdvisor.isPresent(annotation, method, type)) ? true : null;
        return MethodIntrospector.selectMethods(type, isUse).keySet().stream()
                .map(method -> new Use(method, annotation));
    }
}
