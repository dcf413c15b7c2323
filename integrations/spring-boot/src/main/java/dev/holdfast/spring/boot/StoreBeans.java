package dev.holdfast.spring.boot;

import dev.holdfast.spi.KnownStores;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreDescription;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.util.ClassUtils;

/** Opens a lock store on a connection bean of the application. */
final class StoreBeans {

    /** The prefix of a bean name in the property for the store. */
    static final String SCHEME = "bean:";

    private static final String CHOOSE = "Mark the bean to use with @HoldfastConnection, or set 'holdfast.store' to '"
            + SCHEME + "' followed by the bean's name, or to the URI of a store.";

    private final ConfigurableListableBeanFactory beans;
    private final List<StoreConnector<?>> connectors;

    StoreBeans(ConfigurableListableBeanFactory beans, List<StoreConnector<?>> connectors) {
        this.beans = beans;
        this.connectors = connectors;
    }

    private record Candidate(String name, StoreConnector<?> connector) {
        @Override
        public String toString() {
            return connector.type().getSimpleName() + " '" + name + "'";
        }
    }

    /** Opens a store on the marked bean, or on the only one. */
    LockStore open() {
        List<Candidate> all = all().toList();
        List<Candidate> marked =
                all.stream().filter(each -> isMarked(each.name)).toList();
        List<Candidate> chosen =
                marked.isEmpty() ? connectors.stream().flatMap(this::defaults).toList() : marked;
        if (chosen.isEmpty()) {
            throw none();
        } else if (chosen.size() > 1) {
            throw new HoldfastConfigurationException(
                    "The lock store could be opened on any of " + chosen.size() + " beans"
                            + (marked.isEmpty() ? "" : " that are marked with @HoldfastConnection") + ": "
                            + chosen.stream().map(Candidate::toString).collect(Collectors.joining(", ")) + ".",
                    CHOOSE);
        }
        return open(chosen.get(0));
    }

    /** Opens a store on the bean of a name. */
    LockStore open(String name) {
        Candidate named = all().filter(each -> each.name.equals(name))
                .findFirst()
                .orElseThrow(() -> new HoldfastConfigurationException(
                        "The property 'holdfast.store' names the bean '" + name + "', "
                                + (beans.containsBean(name)
                                        ? "on which no lock store can be opened with the modules on " + "the class path"
                                        : "which does not exist")
                                + ". Suitable beans: "
                                + all().map(Candidate::toString).toList() + ".",
                        "Correct the name, or add the module of the store."));
        return open(named);
    }

    private LockStore open(Candidate candidate) {
        return StoreOpening.of(candidate.toString(), () -> open(candidate.connector, candidate.name));
    }

    private <T> LockStore open(StoreConnector<T> connector, String name) {
        return connector.open(beans.getBean(name, connector.type()));
    }

    private Stream<Candidate> all() {
        return connectors.stream()
                .flatMap(connector -> names(connector.type()).map(name -> new Candidate(name, connector)));
    }

    private Stream<String> names(Class<?> type) {
        return Arrays.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false));
    }

    private boolean isMarked(String name) {
        return beans.findAnnotationOnBean(name, HoldfastConnection.class) != null;
    }

    /** The beans of a type that an injection point could get: the primary one, or all default candidates. */
    private Stream<Candidate> defaults(StoreConnector<?> connector) {
        List<Candidate> injectable = names(connector.type())
                .filter(this::isDefaultCandidate)
                .map(name -> new Candidate(name, connector))
                .toList();
        List<Candidate> primary =
                injectable.stream().filter(each -> isPrimary(each.name)).toList();
        return (primary.isEmpty() ? injectable : primary).stream();
    }

    private boolean isDefaultCandidate(String name) {
        if (!beans.containsBeanDefinition(name)) {
            return true;
        }
        BeanDefinition definition = beans.getMergedBeanDefinition(name);
        return definition.isAutowireCandidate()
                && (!(definition instanceof AbstractBeanDefinition known) || known.isDefaultCandidate());
    }

    private boolean isPrimary(String name) {
        return beans.containsBeanDefinition(name)
                && beans.getMergedBeanDefinition(name).isPrimary();
    }

    private HoldfastConfigurationException none() {
        ClassLoader loader =
                Objects.requireNonNullElseGet(beans.getBeanClassLoader(), ClassUtils::getDefaultClassLoader);
        List<String> missing = StoreModules.missing(loader)
                .filter(store -> store.connectionType()
                        .filter(type -> ClassUtils.isPresent(type, loader))
                        .map(type -> ClassUtils.resolveClassName(type, loader))
                        .filter(type -> names(type).findAny().isPresent())
                        .isPresent())
                .map(StoreDescription::artifact)
                .toList();
        if (missing.isEmpty()) {
            return new HoldfastConfigurationException(
                    "There is no lock store: the property 'holdfast.store' is not set, and no bean "
                            + "provides a connection for a store.",
                    "Set 'holdfast.store' to the URI of a store, such as 'redis://localhost', or configure a bean of"
                            + " one of the types " + connectionTypes()
                            + ". Also add the store's module, such as dev.holdfast:holdfast-redis.");
        }
        return new HoldfastConfigurationException(
                "There is no lock store: the application has a suitable connection, but the store's module is missing.",
                "Add " + String.join(" or ", missing) + " to the class path, or set 'holdfast.store' to the URI of"
                        + " another store.");
    }

    private static String connectionTypes() {
        return KnownStores.ALL.stream()
                .flatMap(store -> store.description().connectionType().stream())
                .map(ClassUtils::getShortName)
                .collect(Collectors.joining(", "));
    }
}
