package dev.holdfast.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.test.TestStore;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestContextManager;

@DisplayName("The start of a test is refused")
class MisuseTest {

    private static ApplicationContext start(Class<?> test) {
        return new TestContextManager(test).getTestContext().getApplicationContext();
    }

    private static void refused(Class<?> test, String... message) {
        assertThatThrownBy(() -> start(test)).rootCause().hasMessageContainingAll(message);
    }

    private static void refusedAtOnce(Class<?> test, String... message) {
        assertThatThrownBy(() -> start(test))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll(message);
    }

    @Retention(RetentionPolicy.RUNTIME)
    @EmbeddedHoldfast(sessionTtl = "1m")
    @interface LongTest {}

    @LongTest
    @EmbeddedHoldfast(sessionTtl = "5s")
    static class Contradicting {}

    @LongTest
    @EmbeddedHoldfast(sessionTtl = "60s")
    static class Agreeing {}

    @Test
    @DisplayName("with two annotations that contradict each other")
    void contradicting() {
        refusedAtOnce(Contradicting.class, "MisuseTest$Contradicting has several @EmbeddedHoldfast", "PT1M", "PT5S");
        assertThat(start(Agreeing.class).getBean(TestStore.class)).isNotNull();
    }

    @EmbeddedHoldfast(sessionTtl = "30")
    static class NoUnit {}

    @EmbeddedHoldfast(storeTimeout = "soon")
    static class NoTime {}

    @EmbeddedHoldfast(sessionTtl = "1ms")
    static class TooShort {}

    @Test
    @DisplayName("with times that are none, or out of range")
    void wrongTimes() {
        refusedAtOnce(
                NoUnit.class, "on " + NoUnit.class.getName(), "sessionTtl = \"30\" has no unit. Write 30ms or 30s");
        refusedAtOnce(NoTime.class, "storeTimeout = \"soon\" is not a duration");
        refusedAtOnce(TooShort.class, "on " + TooShort.class.getName() + ": sessionTtl");
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnStore {
        @Bean
        TestStore ours() {
            return TestStore.create(builder -> builder.sessionTtl(Duration.ofSeconds(7)));
        }
    }

    @ContextConfiguration(classes = OwnStore.class)
    @EmbeddedHoldfast
    static class WithOwnStore {}

    @Test
    @DisplayName("but not with a store that the test defines")
    void takesOwnStore() {
        ApplicationContext context = start(WithOwnStore.class);
        TestStore store = context.getBean(TestStore.class);
        assertThat(context.getBean("ours")).isSameAs(store);
        assertThat(context.getBean(Holdfast.class)).isSameAs(store.client());
    }

    @ContextConfiguration(classes = OwnStore.class)
    @EmbeddedHoldfast(sessionTtl = "5s")
    static class SettingsForOwnStore {}

    @Configuration(proxyBeanMethods = false)
    static class SecondStore {
        @Bean
        TestStore second() {
            return TestStore.create();
        }
    }

    @ContextConfiguration(classes = {OwnStore.class, SecondStore.class})
    @EmbeddedHoldfast
    static class TwoStores {}

    @Test
    @DisplayName("with two stores, or with settings for a store that the test defines")
    void severalStores() {
        refused(TwoStores.class, "needs one TestStore, but there are 2", "[ours, second]");
        refused(SettingsForOwnStore.class, "sessionTtl", "PT5S", "'ours'");
    }

    static class ReadyMade implements ApplicationContextInitializer<GenericApplicationContext> {
        @Override
        public void initialize(GenericApplicationContext context) {
            context.getBeanFactory().registerSingleton("made", Holdfast.connect("memory:"));
        }
    }

    @ContextConfiguration(initializers = ReadyMade.class)
    @EmbeddedHoldfast
    static class WithReadyMade {}

    @Test
    @DisplayName("with a client that was put into the context ready-made")
    void readyMade() {
        refused(WithReadyMade.class, "can't replace the bean 'made'", "registered as an existing instance");
    }
}
