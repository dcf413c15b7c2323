package dev.holdfast.spring.advice;

import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.StoreException;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** The client of a method: a bean that is created when it is first needed. */
final class ClientReference {

    private final AnnotatedMethod where;
    private final ConfigurableListableBeanFactory beans;
    private final String name;
    private volatile @Nullable Holdfast client;

    /**
     * A reference that is not resolved yet.
     *
     * @param name the name of the bean; empty for the only or primary one
     */
    ClientReference(AnnotatedMethod where, String name) {
        this.where = where;
        this.beans = where.beans();
        this.name = name;
    }

    /**
     * The client for a call; created now if it does not exist.
     *
     * @throws IllegalStateException if there is no such bean, or several and none is primary
     * @throws StoreUnavailableException if it can't be created because the store does not reply
     * @throws StoreRefusedException if it can't be created for another reason
     */
    Holdfast get() {
        Holdfast known = client;
        if (known != null) {
            return known;
        }
        try {
            return open();
        } catch (BeanCreationException e) {
            throw unusable(e);
        }
    }

    private Holdfast open() {
        try {
            Holdfast bean = name.isEmpty() ? beans.getBean(Holdfast.class) : beans.getBean(name, Holdfast.class);
            client = bean;
            return bean;
        } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException e) {
            throw where.misuse(
                    "there is no single Holdfast bean to lock with. Define one, or select one of "
                            + "several with the attribute 'client'",
                    e);
        }
    }

    private HoldfastException unusable(BeanCreationException failure) {
        Throwable why = failure.getMostSpecificCause();
        boolean isUnavailable = false;
        String store = "";
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof HoldfastException known) {
                why = known;
                store = known.store();
                isUnavailable = known instanceof StoreUnavailableException;
                break;
            } else if (each instanceof StoreException known) {
                why = known;
                isUnavailable = known.reason() == StoreException.Reason.UNAVAILABLE;
                break;
            }
        }
        String message = where.name() + " was not run, because its lock client can't be created: " + why.getMessage();
        return isUnavailable
                ? new StoreUnavailableException(message, "", store, failure)
                : new StoreRefusedException(message, "", store, failure);
    }

    /**
     * The client for a check of the method.
     *
     * @param opens whether to create it; otherwise the result is empty unless it exists
     * @throws IllegalStateException if there is no such bean
     * @throws BeanCreationException if it can't be created
     */
    Optional<Holdfast> forCheck(boolean opens) {
        String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, Holdfast.class, true, false);
        if (names.length == 0 || (!name.isEmpty() && !beans.containsBean(name))) {
            throw where.misuse("there is no Holdfast bean" + (name.isEmpty() ? "" : " named '" + name + "'")
                    + " to lock with. Define one, for example with Holdfast.connect(uri)");
        }
        boolean isPresent = opens || (name.isEmpty() ? Arrays.stream(names).allMatch(this::isMade) : isMade(name));
        return isPresent ? Optional.of(open()) : Optional.empty();
    }

    private boolean isMade(String bean) {
        return beans.containsSingleton(bean)
                || (beans.getParentBeanFactory() != null && !beans.containsLocalBean(bean));
    }
}
