package dev.holdfast.spring.advice;

import dev.holdfast.spring.EnableHoldfast;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.type.AnnotationMetadata;

/** Registers the infrastructure of {@link EnableHoldfast}: proxies, advice and checks. */
public final class HoldfastRegistrar implements ImportBeanDefinitionRegistrar {

    private static final String LOCKED = "dev.holdfast.spring.lockedAdvisor";
    private static final String SCHEDULED = "dev.holdfast.spring.scheduledLockAdvisor";
    private static final String CHECKS = "dev.holdfast.spring.startChecks";
    private static final String RUNNING = "dev.holdfast.spring.runningMethods";

    /** Called by Spring. */
    public HoldfastRegistrar() {}

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importer, BeanDefinitionRegistry registry) {
        Map<String, @Nullable Object> attributes = Objects.requireNonNull(
                importer.getAnnotationAttributes(EnableHoldfast.class.getName()), "the annotation");
        AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        if (Boolean.TRUE.equals(attributes.get("proxyTargetClass"))) {
            AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
        }
        if (registry.containsBeanDefinition(LOCKED)) {
            return;
        }
        Object order = attributes.get("order");
        registry.registerBeanDefinition(LOCKED, advisor(LockedAdvisor.class, order));
        registry.registerBeanDefinition(SCHEDULED, advisor(ScheduledLockAdvisor.class, order));
        registry.registerBeanDefinition(CHECKS, infrastructure(StartChecks.class));
        registry.registerBeanDefinition(RUNNING, infrastructure(RunningMethods.class));
    }

    private static RootBeanDefinition advisor(Class<?> type, @Nullable Object order) {
        RootBeanDefinition advisor = infrastructure(type);
        advisor.getPropertyValues().add("order", order);
        return advisor;
    }

    private static RootBeanDefinition infrastructure(Class<?> type) {
        RootBeanDefinition definition = new RootBeanDefinition(type);
        definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
        return definition;
    }
}
