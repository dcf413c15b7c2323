package dev.holdfast.spring.advice;

import dev.holdfast.spring.Locked;
import dev.holdfast.spring.LockedDefaults;
import dev.holdfast.spring.LockedDefaults.ClientOpening;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.util.ClassUtils;

/**
 * Checks the annotations of each bean when it is created, and rejects invalid ones. When all singletons exist, it opens
 * their clients, and finds beans without a proxy and locks that the stores don't support.
 */
final class StartChecks
        implements BeanPostProcessor,
                SmartInitializingSingleton,
                BeanFactoryAware,
                ApplicationListener<ContextRefreshedEvent> {

    /** The bean with which Spring's tests replace others, as for {@code @MockitoBean}; those have no proxies. */
    private static final String TEST_OVERRIDES =
            "org.springframework.test.context.bean.override.internalBeanOverrideRegistry";

    private final Map<Class<?>, List<AnnotatedMethods.Use>> uses = new ConcurrentHashMap<>();
    private final Set<Class<?>> checked = ConcurrentHashMap.newKeySet();
    private final Queue<GuardedMethod> storeChecks = new ConcurrentLinkedQueue<>();
    private volatile boolean hasStarted;
    private @Nullable ConfigurableListableBeanFactory beans;

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        beans = (ConfigurableListableBeanFactory) beanFactory;
    }

    private ConfigurableListableBeanFactory beans() {
        if (beans == null) {
            throw new IllegalStateException("These checks were not created by a bean factory");
        }
        return beans;
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        check(ClassUtils.getUserClass(bean));
        return bean;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        Class<?> type = AopProxyUtils.ultimateTargetClass(bean);
        // Not known yet if a factory bean has created the bean.
        check(type);
        if (bean instanceof Advised advised) {
            ProxyChecks.check(advised, bean, type, uses(type));
        }
        if (hasStarted) {
            checkStores(false);
        }
        return bean;
    }

    private void check(Class<?> type) {
        if (!checked.add(type)) {
            return;
        }
        try {
            for (AnnotatedMethods.Use use : uses(type)) {
                ProxyChecks.check(use, type);
                storeChecks.add(read(use, type));
            }
            SelfInvocations.check(type, uses(type), beans());
        } catch (RuntimeException e) {
            // The next bean of this class must fail too.
            checked.remove(type);
            throw e;
        }
    }

    private List<AnnotatedMethods.Use> uses(Class<?> type) {
        return uses.computeIfAbsent(type, AnnotatedMethods::in);
    }

    private GuardedMethod read(AnnotatedMethods.Use use, Class<?> type) {
        Class<? extends AnnotationAdvisor<?>> advisor =
                use.annotation() == Locked.class ? LockedAdvisor.class : ScheduledLockAdvisor.class;
        return beans().getBean(advisor).guarded(use.method(), type);
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (!beans().containsBean(TEST_OVERRIDES)) {
            for (String name : beans().getBeanDefinitionNames()) {
                if (beans().containsSingleton(name)) {
                    checkProxy(name, beans().getSingleton(name));
                }
            }
        }
        ClientOpening opening = beans().getBeanProvider(LockedDefaults.class)
                .getIfAvailable(LockedDefaults::standard)
                .clientOpening();
        checkStores(opening == ClientOpening.AT_START);
        hasStarted = true;
    }

    private void checkProxy(String name, @Nullable Object bean) {
        if (bean == null || bean instanceof Advised) {
            return;
        }
        Class<?> type = ClassUtils.getUserClass(bean);
        for (AnnotatedMethods.Use use : uses(type)) {
            throw use.misuse(
                    type,
                    "the bean '" + name + "' has no proxy, so nothing is locked: it was created before proxies are "
                            + "available, because it is a post-processor or a dependency of one. Move the "
                            + "method to another bean");
        }
    }

    /** Also called for a child context, whose events reach its parents. */
    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        if (event.getApplicationContext() instanceof ConfigurableApplicationContext context
                && context.getBeanFactory() != beans()
                && context.getBeanFactory().getBeanNamesForType(StartChecks.class, true, false).length == 0) {
            checkChild(context.getBeanFactory());
        }
    }

    private void checkChild(ConfigurableListableBeanFactory child) {
        for (String name : child.getSingletonNames()) {
            Object bean = child.getSingleton(name);
            boolean isAdvised = bean instanceof Advised advised
                    && Arrays.stream(advised.getAdvisors()).anyMatch(AnnotationAdvisor.class::isInstance);
            if (bean == null || isAdvised) {
                continue;
            }
            Class<?> type = AopProxyUtils.ultimateTargetClass(bean);
            for (AnnotatedMethods.Use use : uses(type)) {
                throw use.misuse(
                        type,
                        "the bean '" + name + "' is in a child context without @EnableHoldfast, so nothing is locked. "
                                + "Add @EnableHoldfast to the child context, or move the bean to the parent");
            }
        }
    }

    private void checkStores(boolean opensClients) {
        for (GuardedMethod next = storeChecks.poll(); next != null; next = storeChecks.poll()) {
            next.checkStore(opensClients);
        }
    }
}
