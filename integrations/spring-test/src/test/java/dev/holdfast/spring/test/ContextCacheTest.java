package dev.holdfast.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.test.TestStore;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

@DisplayName("The application context of a test")
class ContextCacheTest {

    private static ApplicationContext contextOf(Class<?> test) {
        return new TestContextManager(test).getTestContext().getApplicationContext();
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {
        @Bean
        Holdfast holdfast() {
            return Holdfast.connect("memory:");
        }
    }

    @SpringJUnitConfig(Application.class)
    @EmbeddedHoldfast
    static class One {}

    @SpringJUnitConfig(Application.class)
    @EmbeddedHoldfast
    static class Other {}

    @SpringJUnitConfig(Application.class)
    @EmbeddedHoldfast(sessionTtl = "1m")
    static class Longer {}

    @SpringJUnitConfig(Application.class)
    @EmbeddedHoldfast(sessionTtl = "PT60S")
    static class LongerInOtherWords {}

    @EmbeddedHoldfast
    static class Overriding extends Longer {}

    static class Inheriting extends Longer {}

    @SpringJUnitConfig(Application.class)
    static class Without {}

    @Retention(RetentionPolicy.RUNTIME)
    @SpringJUnitConfig(Application.class)
    @EmbeddedHoldfast(sessionTtl = "1m")
    @interface LongTest {}

    @LongTest
    static class Composed {}

    @Test
    @DisplayName("is shared by tests with equal settings")
    void isShared() {
        assertThat(contextOf(One.class)).isSameAs(contextOf(Other.class)).isSameAs(contextOf(Overriding.class));
        assertThat(contextOf(Longer.class))
                .isSameAs(contextOf(LongerInOtherWords.class))
                .isSameAs(contextOf(Inheriting.class))
                .isSameAs(contextOf(Composed.class));
    }

    @Test
    @DisplayName("is not shared by tests with other settings, nor by those without a store of their own")
    void isNotShared() {
        assertThat(contextOf(One.class)).isNotSameAs(contextOf(Longer.class));
        ApplicationContext without = contextOf(Without.class);
        assertThat(without).isNotSameAs(contextOf(One.class));
        assertThat(without.getBeanNamesForType(TestStore.class)).isEmpty();
    }
}
