package dev.holdfast.spring.boot;

import dev.holdfast.spring.Locked;
import dev.holdfast.spring.ScheduledLock;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/** Warns of the methods that run without their locks, since Holdfast is switched off. */
final class UnlockedMethods implements SmartInitializingSingleton {

    private static final Logger LOG = LoggerFactory.getLogger(UnlockedMethods.class);

    private final ConfigurableListableBeanFactory beans;

    UnlockedMethods(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public void afterSingletonsInstantiated() {
        List<String> methods = Arrays.stream(beans.getBeanDefinitionNames())
                .map(name -> beans.getType(name, false))
                .filter(Objects::nonNull)
                .map(ClassUtils::getUserClass)
                .filter(type -> !type.getName().startsWith("org.springframework."))
                .distinct()
                .flatMap(UnlockedMethods::in)
                .sorted()
                .toList();
        if (!methods.isEmpty()) {
            LOG.warn(
                    "The property 'holdfast.enabled' is false, so these {} methods run without the locks of their"
                            + " annotations: {}",
                    methods.size(),
                    methods);
        }
    }

    private static Stream<String> in(Class<?> type) {
        return MethodIntrospector.selectMethods(type, UnlockedMethods::isAnnotated).stream()
                .map(method -> type.getName() + "#" + method.getName());
    }

    private static boolean isAnnotated(Method method) {
        return !method.isSynthetic()
                && (AnnotatedElementUtils.hasAnnotation(method, Locked.class)
                        || AnnotatedElementUtils.hasAnnotation(method, ScheduledLock.class));
    }
}
