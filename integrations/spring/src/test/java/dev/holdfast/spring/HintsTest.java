package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;

@DisplayName("Ahead of time")
class HintsTest {

    /** What a call is about. */
    public record Order(String id, Customer customer) {}

    /** Whose order it is. */
    public record Customer(String name) {}

    static class Orders {

        private final AtomicInteger calls = new AtomicInteger();

        @Locked(name = "order", key = "#order.customer.name", fallback = "other")
        int run(Order order) {
            CurrentLocks.ensureHeld("order/" + order.customer().name());
            return calls.incrementAndGet();
        }

        int other(Order order) {
            return -1;
        }

        @ScheduledLock(name = "nightly", atMost = "1h")
        void nightly() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast(proxyTargetClass = true)
    static class Application {
        @Bean
        Holdfast holdfast() {
            return Holdfast.connect("memory:");
        }

        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    private static TestGenerationContext generate(AnnotationConfigApplicationContext context) {
        context.register(Application.class);
        TestGenerationContext generation = new TestGenerationContext();
        new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        generation.writeGeneratedContent();
        return generation;
    }

    @Test
    @DisplayName("hints are there for methods, fallbacks and what expressions read")
    void hints() throws Exception {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            RuntimeHints hints = generate(context).getRuntimeHints();
            var reflection = RuntimeHintsPredicates.reflection();
            assertThat(reflection.onMethodInvocation(Orders.class.getDeclaredMethod("run", Order.class)))
                    .accepts(hints);
            assertThat(reflection.onMethodInvocation(Orders.class.getDeclaredMethod("other", Order.class)))
                    .accepts(hints);
            assertThat(reflection.onMethodInvocation(Orders.class.getDeclaredMethod("nightly")))
                    .accepts(hints);
            assertThat(reflection.onMethodInvocation(Order.class.getMethod("customer")))
                    .accepts(hints);
            assertThat(reflection.onMethodInvocation(Customer.class.getMethod("name")))
                    .accepts(hints);
        }
    }

    @Test
    @CompileWithForkedClassLoader
    @DisplayName("generated code starts the application, with its locks")
    void generatedCode() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            TestGenerationContext generation = generate(context);
            TestCompiler.forSystem().with(generation).compile(compiled -> {
                ApplicationContextInitializer<GenericApplicationContext> initializer =
                        compiled.getInstance(ApplicationContextInitializer.class);
                try (GenericApplicationContext generated = new GenericApplicationContext()) {
                    initializer.initialize(generated);
                    generated.refresh();
                    Orders orders = generated.getBean(Orders.class);
                    assertThat(AopUtils.isCglibProxy(orders)).isTrue();
                    assertThat(orders.run(new Order("7", new Customer("acme")))).isEqualTo(1);
                }
            });
        }
    }
}
