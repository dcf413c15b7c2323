package dev.holdfast.spring.advice;

import dev.holdfast.Holdfast;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** The client of a method: a bean that is asked for when it is needed, and not before. */
final class ClientReference {

    private final AnnotatedMethod where;
    private final ConfigurableListableBeanFactory beans;
    private final String name;
    private volatile @Nullable Holdfast client;

    /**
     * A reference that was not looked up yet.
     *
     * @param name of the bean; empty for the one there is
     */
    ClientReference(AnnotatedMethod where, String name) {
        this.where = where;
        this.beans = where.beans();
        this.name = name;
    }

    /**
     * The client, which is made now if it was not.
     *
     * @throws IllegalStateException if there is no such bean, or several and none is primary
     */
    Holdfast get() {
        Holdfast known = client;
        if (known == null) {
            known = lookUp();
            client = known;
        }
        return known;
    }

    private Holdfast lookUp() {
        try {
            return name.isEmpty() ? beans.getBean(Holdfast.class) : beans.getBean(name, Holdfast.class);
        } catch (BeansException e) {
            throw where.misuse(
                    "there is no Holdfast bean to lock with. Define one, or name one of several with client", e);
        }
    }

    /**
     * The client if it was made already: a check is no reason to connect to a store.
     *
     * @throws IllegalStateException if there is no such bean
     */
    Optional<Holdfast> ifPresent() {
        String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, Holdfast.class, true, false);
        if (names.length == 0 || (!name.isEmpty() && !beans.containsBean(name))) {
            throw where.misuse("there is no Holdfast bean" + (name.isEmpty() ? "" : " named '" + name + "'")
                    + " to lock with. Define one, as with Holdfast.connect(uri)");
        }
        boolean present = name.isEmpty() ? Arrays.stream(names).allMatch(this::isMade) : isMade(name);
        return present ? Optional.of(get()) : Optional.empty();
    }

    private boolean isMade(String bean) {
        return beans.containsSingleton(bean)
                || (beans.getParentBeanFactory() != null && !beans.containsLocalBean(bean));
    }
}
