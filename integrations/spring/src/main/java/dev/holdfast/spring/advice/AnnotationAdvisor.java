package dev.holdfast.spring.advice;

import dev.holdfast.spring.LockLostEvent;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationEventPublisherAware;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.function.SingletonSupplier;

/** Advises methods with an annotation. It reads the annotation once for each method and class. */
abstract class AnnotationAdvisor<A extends Annotation> extends StaticMethodMatcherPointcutAdvisor
        implements MethodInterceptor, BeanFactoryAware, ApplicationEventPublisherAware {

    private static final long serialVersionUID = 1L;

    private final Class<A> annotation;
    private final transient Map<MethodClassKey, GuardedMethod> methods = new ConcurrentHashMap<>();
    private transient @Nullable ConfigurableListableBeanFactory beans;
    private final transient SingletonSupplier<RunningMethods> running =
            SingletonSupplier.of(() -> beans().getBean(RunningMethods.class));
    private transient @Nullable ApplicationEventPublisher publisher;

    AnnotationAdvisor(Class<A> annotation) {
        this.annotation = annotation;
        setClassFilter(type -> AnnotationUtils.isCandidateClass(type, annotation));
    }

    /**
     * Reads an annotation.
     *
     * @throws IllegalStateException if it is invalid
     */
    abstract GuardedMethod read(AnnotatedMethod where, A values);

    @Override
    public final void setBeanFactory(BeanFactory beanFactory) {
        beans = (ConfigurableListableBeanFactory) beanFactory;
    }

    @Override
    public final void setApplicationEventPublisher(ApplicationEventPublisher applicationEventPublisher) {
        publisher = applicationEventPublisher;
    }

    final void publish(LockLostEvent event) {
        if (publisher != null) {
            publisher.publishEvent(event);
        }
    }

    @Override
    public final Advice getAdvice() {
        return this;
    }

    @Override
    public final boolean matches(Method method, Class<?> targetClass) {
        return (method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC)) == 0
                && isPresent(annotation, method, targetClass);
    }

    /** Whether a method, or the declaration that it overrides, has an annotation. */
    static boolean isPresent(Class<? extends Annotation> annotation, Method method, Class<?> targetClass) {
        return annotations(method, targetClass).isPresent(annotation);
    }

    static MergedAnnotations annotations(Method method, Class<?> targetClass) {
        return MergedAnnotations.from(
                AopUtils.getMostSpecificMethod(method, targetClass), SearchStrategy.TYPE_HIERARCHY);
    }

    @Override
    public final @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Class<?> targetClass =
                target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        GuardedMethod method = guarded(invocation.getMethod(), targetClass);
        RunningMethods methods = Objects.requireNonNull(running.obtain());
        methods.begin();
        Object result = null;
        try {
            result = method.invoke(invocation);
            return result;
        } finally {
            if (result instanceof CompletionStage<?> stage) {
                stage.whenComplete((value, failure) -> methods.end());
            } else {
                methods.end();
            }
        }
    }

    /**
     * The annotated method of a class.
     *
     * @throws IllegalStateException if the annotation is invalid
     */
    final GuardedMethod guarded(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        GuardedMethod known = methods.get(key);
        if (known != null) {
            return known;
        }
        GuardedMethod read = read(method, targetClass);
        return Optional.ofNullable(methods.putIfAbsent(key, read)).orElse(read);
    }

    private ConfigurableListableBeanFactory beans() {
        if (beans == null) {
            throw new IllegalStateException("This advisor was not created by a bean factory");
        }
        return beans;
    }

    private GuardedMethod read(Method method, Class<?> targetClass) {
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        AnnotatedMethod where = new AnnotatedMethod(beans(), annotation.getSimpleName(), specific, targetClass);
        MergedAnnotations annotations = annotations(method, targetClass);
        int nearest = annotations.get(annotation).getAggregateIndex();
        long count = annotations.stream(annotation)
                .filter(one -> one.getAggregateIndex() == nearest)
                .count();
        if (count > 1) {
            throw where.misuse("it is present " + count
                    + " times, on the method or on its annotations. Keep one; to lock several resources, use "
                    + "a key that is a collection");
        }
        return read(where, annotations.get(annotation).synthesize());
    }
}
