package dev.holdfast.spring.test;

import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spring.boot.HoldfastBuilderConfigurer;
import dev.holdfast.test.TestStore;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/** Creates the beans of a test's store. Called by Spring, by the names of the methods. */
final class TestStoreBeans {

    private static final boolean IS_ON_BOOT = ClassUtils.isPresent(
            "dev.holdfast.spring.boot.HoldfastBuilderConfigurer", TestStoreBeans.class.getClassLoader());

    private TestStoreBeans() {}

    /** A store whose client has the settings of the application's. */
    static TestStore testStore(String sessionTtl, String storeTimeout, ConfigurableListableBeanFactory beans) {
        ClientSettings settings = ClientSettings.ofTexts(sessionTtl, storeTimeout);
        return TestStore.create(builder -> {
            if (!IS_ON_BOOT || !Boot.configure(beans, builder)) {
                beans.getBeanProvider(HoldfastListener.class).orderedStream().forEach(builder::listener);
            }
            settings.applyTo(builder);
        });
    }

    /** The client of the store. */
    static Holdfast client(TestStore store) {
        return store.client();
    }

    /** One more client of the program. */
    static Holdfast furtherClient(String sessionTtl, String storeTimeout, TestStore store, String label) {
        Holdfast.Builder builder = store.builder().label(label);
        ClientSettings.ofTexts(sessionTtl, storeTimeout).applyTo(builder);
        return builder.build();
    }

    /** The connection of the program. */
    static LockStore lockStore(TestStore store) {
        return store.lockStore();
    }

    /** Uses Spring Boot's configuration; a separate class, since Spring Boot is optional. */
    private static final class Boot {

        /** Whether a configuration was found and applied. */
        static boolean configure(ListableBeanFactory beans, Holdfast.Builder builder) {
            HoldfastBuilderConfigurer configurer =
                    beans.getBeanProvider(HoldfastBuilderConfigurer.class).getIfAvailable();
            if (configurer == null) {
                return false;
            }
            var unused = configurer.configure(builder);
            return true;
        }
    }
}
