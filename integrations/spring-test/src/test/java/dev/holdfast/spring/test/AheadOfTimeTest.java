package dev.holdfast.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.test.TestStore;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;

@DisplayName("A context that was generated ahead of time")
class AheadOfTimeTest {

    @Configuration(proxyBeanMethods = false)
    static class Application {
        @Bean
        Holdfast holdfast() {
            throw new AssertionError("connects to a server");
        }

        @Bean(defaultCandidate = false)
        Holdfast second() {
            throw new AssertionError("connects to a server");
        }
    }

    @Test
    @CompileWithForkedClassLoader
    @DisplayName("has the test's store in place of the application's")
    void hasStore() {
        TestGenerationContext generated = new TestGenerationContext();
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.register(Application.class);
            context.addBeanFactoryPostProcessor(new BeanReplacement(new ClientSettings(Duration.ofSeconds(5), null)));
            new ApplicationContextAotGenerator().processAheadOfTime(context, generated);
        }
        generated.writeGeneratedContent();
        TestCompiler.forSystem().with(generated).compile(compiled -> {
            try (GenericApplicationContext context = new GenericApplicationContext()) {
                initialize(compiled.getInstance(ApplicationContextInitializer.class), context);
                context.refresh();
                TestStore store = context.getBean(TestStore.class);
                assertThat(context.getBean("holdfast")).isSameAs(store.client());
                assertThat(context.getBean("second", Holdfast.class).state().sessionLeft())
                        .hasValueSatisfying(left -> assertThat(left).isLessThan(Duration.ofSeconds(5)));
            }
        });
    }

    @SuppressWarnings("unchecked")
    private static void initialize(ApplicationContextInitializer<?> initializer, GenericApplicationContext context) {
        ((ApplicationContextInitializer<GenericApplicationContext>) initializer).initialize(context);
    }
}
