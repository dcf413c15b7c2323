package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** The clients of an application that were made so far; asking for them makes none. Thread-safe. */
final class HoldfastClients {

    private final ConfigurableListableBeanFactory beans;

    HoldfastClients(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    /** Those that were made, by the names of their beans. */
    Map<String, Holdfast> present() {
        return present(Holdfast.class);
    }

    /** The beans of a type that were made, by name. */
    <T> Map<String, T> present(Class<T> type) {
        Map<String, T> present = new LinkedHashMap<>();
        Arrays.stream(beans.getBeanNamesForType(type, false, false))
                .filter(beans::containsSingleton)
                .forEach(name -> present.put(name, beans.getBean(name, type)));
        return present;
    }
}
