package dev.holdfast.spring.test;

import dev.holdfast.Holdfast;
import dev.holdfast.spi.LockStore;
import dev.holdfast.test.TestStore;
import java.util.Arrays;
import java.util.List;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.RuntimeBeanReference;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;

/**
 * Replaces the definitions of lock stores and clients in a context by those of a test's store, before any bean is
 * created. Definitions keep their names, qualifiers and ranks, so that every injection point gets the bean of the test.
 */
final class BeanReplacement implements BeanFactoryPostProcessor {

    static final String STORE = "holdfastTestStore";
    static final String CLIENT = "holdfastTestClient";

    private final ClientSettings settings;

    BeanReplacement(ClientSettings settings) {
        this.settings = settings;
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        BeanDefinitionRegistry registry = (BeanDefinitionRegistry) beans;
        RuntimeBeanReference store = new RuntimeBeanReference(storeName(beans, registry));
        for (String name : beans.getBeanNamesForType(LockStore.class, true, false)) {
            replace(beans, name, definition(LockStore.class, "lockStore", store));
        }
        List<String> clients = List.of(beans.getBeanNamesForType(Holdfast.class, true, false));
        if (!clients.isEmpty()) {
            String first = first(beans, clients);
            clients.forEach(name -> replace(beans, name, name.equals(first) ? client(store) : further(name, store)));
        } else if (BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, Holdfast.class, true, false).length
                == 0) {
            registry.registerBeanDefinition(CLIENT, client(store));
        }
    }

    /** The test store of this or a parent context; added if there is none. */
    private String storeName(ConfigurableListableBeanFactory beans, BeanDefinitionRegistry registry) {
        String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, TestStore.class, true, false);
        if (names.length > 1) {
            throw new IllegalStateException("@EmbeddedHoldfast needs one TestStore, but there are " + names.length
                    + " beans of that type: " + Arrays.toString(names) + ". Keep one of them, or none.");
        } else if (names.length == 1) {
            if (!names[0].equals(STORE) && !settings.isEmpty()) {
                throw new IllegalStateException("@EmbeddedHoldfast has settings, " + settings
                        + ", but the test defines its own TestStore, the bean '" + names[0]
                        + "'. Configure the client where that bean is created, or remove the bean.");
            }
            return names[0];
        }
        RootBeanDefinition definition =
                definition(TestStore.class, "testStore", settings.ttlText(), settings.timeoutText());
        definition.setDestroyMethodName("close");
        registry.registerBeanDefinition(STORE, definition);
        return STORE;
    }

    /** The client that injection points of the application get: the primary one, or the first candidate. */
    private static String first(ConfigurableListableBeanFactory beans, List<String> names) {
        return names.stream()
                .filter(name -> original(beans, name).isPrimary())
                .findFirst()
                .or(() -> names.stream()
                        .filter(name -> isCandidate(original(beans, name)))
                        .findFirst())
                .orElse(names.get(0));
    }

    private static boolean isCandidate(RootBeanDefinition definition) {
        return definition.isAutowireCandidate() && definition.isDefaultCandidate();
    }

    private static RootBeanDefinition original(ConfigurableListableBeanFactory beans, String name) {
        if (!beans.containsBeanDefinition(name)) {
            throw new IllegalStateException(
                    "@EmbeddedHoldfast can't replace the bean '" + name + "' of type " + beans.getType(name)
                            + ": it was registered as an existing instance. Let the context create the bean, or "
                            + "leave it out of the test.");
        }
        return (RootBeanDefinition) beans.getMergedBeanDefinition(name);
    }

    private RootBeanDefinition client(RuntimeBeanReference store) {
        return definition(Holdfast.class, "client", store);
    }

    private RootBeanDefinition further(String name, RuntimeBeanReference store) {
        RootBeanDefinition definition =
                definition(Holdfast.class, "furtherClient", settings.ttlText(), settings.timeoutText(), store, name);
        definition.setDestroyMethodName("close");
        return definition;
    }

    /** The arguments can be generated ahead of time. The others are injected. */
    private static RootBeanDefinition definition(Class<?> type, String factoryMethod, Object... arguments) {
        RootBeanDefinition definition = new RootBeanDefinition(TestStoreBeans.class);
        definition.setFactoryMethodName(factoryMethod);
        definition.setTargetType(type);
        definition.setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR);
        for (int i = 0; i < arguments.length; i++) {
            definition.getConstructorArgumentValues().addIndexedArgumentValue(i, arguments[i]);
        }
        // The store closes its clients and connections.
        definition.setDestroyMethodName("");
        return definition;
    }

    private static void replace(ConfigurableListableBeanFactory beans, String name, RootBeanDefinition replacement) {
        RootBeanDefinition original = original(beans, name);
        replacement.setPrimary(original.isPrimary());
        replacement.setFallback(original.isFallback());
        replacement.setAutowireCandidate(original.isAutowireCandidate());
        replacement.setDefaultCandidate(original.isDefaultCandidate());
        replacement.setLazyInit(original.isLazyInit());
        replacement.copyQualifiersFrom(original);
        // The place of annotations that qualify the bean.
        replacement.setQualifiedElement(
                original.getQualifiedElement() != null
                        ? original.getQualifiedElement()
                        : original.getResolvedFactoryMethod());
        BeanDefinitionRegistry registry = (BeanDefinitionRegistry) beans;
        registry.removeBeanDefinition(name);
        registry.registerBeanDefinition(name, replacement);
    }
}
