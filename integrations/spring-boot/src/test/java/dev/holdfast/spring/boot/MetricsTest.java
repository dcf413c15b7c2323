package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.micrometer.HoldfastMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

@DisplayName("Meters")
class MetricsTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues("holdfast.store=memory:", "holdfast.metrics.lock-names=report")
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, HoldfastMetricsAutoConfiguration.class));

    @Test
    @DisplayName("are those of the client, in the registry of the application, when there is a client")
    void meters() {
        runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new).run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            assertThat(registry.getMeters()).isEmpty();
            try (Hold hold = context.getBean(Holdfast.class).lock("report").acquire()) {
                assertThat(hold.isHeld()).isTrue();
                assertThat(registry.get("holdfast.held").gauge().value()).isEqualTo(1);
            }
            assertThat(registry.getMeters())
                    .anyMatch(meter -> "report".equals(meter.getId().getTag("lock")));
        });
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({HoldfastAutoConfiguration.class, HoldfastMetricsAutoConfiguration.class})
    static class Application {}

    @Test
    @DisplayName("are not there without a registry, or without their module")
    void none() {
        runner.run(context -> assertThat(context).doesNotHaveBean(HoldfastMetrics.class));
        new ApplicationContextRunner()
                .withPropertyValues("holdfast.store=memory:")
                .withUserConfiguration(Application.class)
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withClassLoader(new FilteredClassLoader("dev.holdfast.micrometer"))
                .run(context ->
                        assertThat(context).hasSingleBean(Holdfast.class).doesNotHaveBean("holdfastMetrics"));
    }
}
