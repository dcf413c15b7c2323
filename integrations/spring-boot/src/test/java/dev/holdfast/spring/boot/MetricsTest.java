package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
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
    static class TwoClients {
        @Bean
        Holdfast orders(HoldfastBuilderConfigurer configurer) {
            return configurer.configure(Holdfast.builder("memory:")).build();
        }

        @Bean
        Holdfast reports(HoldfastBuilderConfigurer configurer) {
            return configurer.configure(Holdfast.builder("memory:")).build();
        }
    }

    @Test
    @DisplayName("are those of each client, told apart by the name of its bean")
    void severalClients() {
        runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withUserConfiguration(TwoClients.class)
                .run(context -> {
                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    try (Hold hold = context.getBean("reports", Holdfast.class)
                            .lock("report")
                            .acquire()) {
                        assertThat(hold.isHeld()).isTrue();
                        assertThat(held(registry, "orders")).isZero();
                        assertThat(held(registry, "reports")).isEqualTo(1);
                    }
                });
    }

    private static double held(MeterRegistry registry, String client) {
        return registry.get("holdfast.held").tag("client", client).gauge().value();
    }

    @Test
    @DisplayName("are those of the first try where a client could be made only later")
    void secondTry() {
        AtomicBoolean isAway = new AtomicBoolean(true);
        runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean(HoldfastBuilderCustomizer.class, () -> builder -> {
                    if (isAway.get()) {
                        throw new IllegalArgumentException("not yet");
                    }
                })
                .run(context -> {
                    assertThatThrownBy(() -> context.getBean(Holdfast.class)).hasMessageContaining("not yet");
                    isAway.set(false);
                    try (Hold hold =
                            context.getBean(Holdfast.class).lock("report").acquire()) {
                        assertThat(hold.isHeld()).isTrue();
                        assertThat(held(context.getBean(MeterRegistry.class), "holdfast"))
                                .isEqualTo(1);
                    }
                });
    }

    @Test
    @DisplayName("are not made again of the observations, which are there for traces")
    void observations() {
        List<String> observed = new CopyOnWriteArrayList<>();
        runner.withConfiguration(AutoConfigurations.of(
                        HoldfastObservationsAutoConfiguration.class,
                        MetricsAutoConfiguration.class,
                        CompositeMeterRegistryAutoConfiguration.class,
                        SimpleMetricsExportAutoConfiguration.class,
                        ObservationAutoConfiguration.class))
                .withBean(ObservationHandler.class, () -> new ObservationHandler<>() {
                    @Override
                    public void onStop(Observation.Context context) {
                        observed.add(context.getName());
                    }

                    @Override
                    public boolean supportsContext(Observation.Context context) {
                        return true;
                    }
                })
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    try (Hold hold =
                            context.getBean(Holdfast.class).lock("report").acquire()) {
                        assertThat(hold.isHeld()).isTrue();
                    }
                    Observation.createNotStarted("plain", context.getBean(ObservationRegistry.class))
                            .observe(() -> {});
                    assertThat(observed).containsExactly("holdfast.lock.wait", "holdfast.lock.hold", "plain");
                    assertThat(registry.getMeters())
                            .extracting(meter -> meter.getId().getName())
                            .contains("holdfast.wait", "holdfast.hold", "plain")
                            .noneMatch(name -> name.startsWith("holdfast.lock."));
                });
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        HoldfastAutoConfiguration.class,
        HoldfastMetricsAutoConfiguration.class,
        HoldfastObservationsAutoConfiguration.class
    })
    static class Application {}

    @Test
    @DisplayName("are not there without a registry, or without their module")
    void none() {
        runner.run(context -> assertThat(context).doesNotHaveBean(ClientListeners.class));
        new ApplicationContextRunner()
                .withPropertyValues("holdfast.store=memory:")
                .withUserConfiguration(Application.class)
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withClassLoader(new FilteredClassLoader("dev.holdfast.micrometer"))
                .run(context ->
                        assertThat(context).hasSingleBean(Holdfast.class).doesNotHaveBean(ClientListeners.class));
    }
}
