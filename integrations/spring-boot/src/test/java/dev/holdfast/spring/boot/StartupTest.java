package dev.holdfast.spring.boot;

import static dev.holdfast.spring.boot.Analyses.assertAnalysis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spring.EnableHoldfast;
import dev.holdfast.spring.Locked;
import dev.holdfast.spring.ScheduledLock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@DisplayName("An application with nothing but annotations")
@ExtendWith(OutputCaptureExtension.class)
class StartupTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    HoldfastAutoConfiguration.class, HoldfastHealthContributorAutoConfiguration.class));

    private final ApplicationContextRunner locked = runner.withUserConfiguration(WithLockedMethod.class);

    /** Public, since its proxy may be in another class loader. */
    public static class Ledger {
        @Locked("ledger")
        public String append() {
            return "done";
        }
    }

    static class Reports {
        @ScheduledLock(name = "report", atMost = "1h")
        void write() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class WithLockedMethod {
        @Bean
        Ledger ledger() {
            return new Ledger();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithJob {
        @Bean
        Reports reports() {
            return new Reports();
        }
    }

    /** Where nobody listens. */
    private static String away() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return "redis://127.0.0.1:" + socket.getLocalPort();
        }
    }

    private static boolean hasClient(AssertableApplicationContext context) {
        return context.getBeanFactory().containsSingleton("holdfast");
    }

    private static Health health(AssertableApplicationContext context) {
        return context.getBean(HoldfastHealthIndicator.class).health();
    }

    @Test
    @DisplayName("opens its client when it starts, for a locked method as for a job")
    void opens() {
        locked.withPropertyValues("holdfast.store=memory:").run(context -> {
            assertThat(hasClient(context)).isTrue();
            assertThat(health(context).getStatus()).isEqualTo(Status.UP);
        });
        runner.withUserConfiguration(WithJob.class)
                .withPropertyValues("holdfast.store=memory:")
                .run(context -> assertThat(hasClient(context)).isTrue());
    }

    @Test
    @DisplayName("opens it at the first call if it is told to, and without such a method if it is told to")
    void openAtStartup() {
        locked.withPropertyValues("holdfast.store=memory:", "holdfast.open-at-startup=false")
                .run(context -> {
                    assertThat(hasClient(context)).isFalse();
                    assertThat(context.getBean(Ledger.class).append()).isEqualTo("done");
                    assertThat(hasClient(context)).isTrue();
                });
        runner.withPropertyValues("holdfast.store=memory:", "holdfast.open-at-startup=true")
                .run(context -> assertThat(hasClient(context)).isTrue());
        runner.withPropertyValues("holdfast.open-at-startup=true")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("There is no lock store"));
    }

    @Test
    @DisplayName("does not start without a store")
    void noStore() {
        locked.run(context ->
                assertAnalysis(context.getStartupFailure()).first().asString().contains("There is no lock store"));
    }

    @Test
    @DisplayName("does not start without the module of its store")
    void noModule() {
        locked.withClassLoader(new FilteredClassLoader("dev.holdfast.store.sqlite"))
                .withPropertyValues("holdfast.store=sqlite:")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .anyMatch(text -> text.contains("dev.holdfast:holdfast-sqlite")));
    }

    @Test
    @DisplayName("does not start while its store is away")
    void storeAway() throws Exception {
        locked.withPropertyValues("holdfast.store=" + away(), "holdfast.store-timeout=20s")
                .run(context -> {
                    assertThat(context.getStartupFailure()).hasStackTraceContaining("StoreUnavailableException");
                    assertAnalysis(context.getStartupFailure())
                            .satisfiesExactly(
                                    what -> assertThat(what).contains("could not be opened"),
                                    action -> assertThat(action).contains("'holdfast.startup-policy' to 'retry'"));
                });
    }

    @Test
    @DisplayName("starts while its store is away, if it may, and is down until that is there")
    void retry() throws Exception {
        locked.withPropertyValues(
                        "holdfast.store=" + away(),
                        "holdfast.startup-policy=retry",
                        "holdfast.store-timeout=200ms",
                        "holdfast.health-timeout=200ms")
                .run(context -> {
                    assertThat(hasClient(context)).isTrue();
                    assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
                    assertThatThrownBy(() -> context.getBean(Ledger.class).append())
                            .isInstanceOf(StoreUnavailableException.class);
                });
    }

    /** Reads its auto-configurations as applications do. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({HoldfastAutoConfiguration.class, UnlockedMethodsAutoConfiguration.class})
    static class SwitchedOff {}

    @Test
    @DisplayName("for which Holdfast is switched off is warned of each method that has lost its lock")
    void switchedOff(CapturedOutput output) {
        runner(SwitchedOff.class)
                .withPropertyValues("holdfast.enabled=false")
                .withUserConfiguration(WithLockedMethod.class, WithJob.class)
                .run(context -> {
                    assertThat(context.getBean(Ledger.class).append()).isEqualTo("done");
                    assertThat(output)
                            .containsOnlyOnce("'holdfast.enabled' is false, so these 2 methods run without the locks")
                            .contains(Ledger.class.getName() + "#append", Reports.class.getName() + "#write");
                });
    }

    @Test
    @DisplayName("is not warned where no method has lost its lock")
    void nothingToWarnOf(CapturedOutput output) {
        runner(SwitchedOff.class)
                .withPropertyValues("holdfast.enabled=false")
                .run(context -> assertThat(context).hasNotFailed());
        runner(SwitchedOff.class)
                .withPropertyValues("holdfast.enabled=false")
                .withUserConfiguration(WithLockedMethod.class, OwnClient.class)
                .run(context ->
                        assertThat(context.getBean(Ledger.class).append()).isEqualTo("done"));
        assertThat(output).doesNotContain("run without the locks");
    }

    private static ApplicationContextRunner runner(Class<?> application) {
        return new ApplicationContextRunner().withUserConfiguration(application);
    }

    /** Enables the annotations whatever the property says. */
    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    static class OwnClient {
        @Bean
        Holdfast ours() {
            return Holdfast.connect("memory:");
        }
    }

    @Test
    @DisplayName("that opens its client at the first call gets the failure of the store, and is down from then on")
    void failsLater(@TempDir Path directory) throws Exception {
        ApplicationContextRunner later = locked.withPropertyValues("holdfast.open-at-startup=false");
        later.withPropertyValues("holdfast.store=" + away(), "holdfast.store-timeout=20s")
                .run(context -> {
                    assertThat(health(context).getStatus()).isEqualTo(Status.UNKNOWN);
                    assertThatThrownBy(() -> context.getBean(Ledger.class).append())
                            .isInstanceOf(StoreUnavailableException.class)
                            .hasMessageContainingAll("Ledger#append() was not run", "could not be opened");
                    assertThat(health(context)).satisfies(health -> {
                        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                        assertThat(health.getDetails()).containsKey("problem");
                    });
                });
        later.run(context -> {
            assertThatThrownBy(() -> context.getBean(Ledger.class).append())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContainingAll("Ledger#append() was not run", "There is no lock store");
            assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
        });
        later.withPropertyValues("holdfast.store=sqlite:" + directory.resolve("absent/locks.db"))
                .run(context -> {
                    assertThatThrownBy(() -> context.getBean(Ledger.class).append())
                            .isInstanceOf(StoreRefusedException.class);
                    assertThat(directory.resolve("absent").toFile().mkdir()).isTrue();
                    assertThat(context.getBean(Ledger.class).append()).isEqualTo("done");
                    assertThat(health(context).getStatus()).isEqualTo(Status.UP);
                });
    }

    @Test
    @DisplayName("lets calls that come while a silent store is opened fail with that attempt, and makes no others")
    void silentStore() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            locked.withPropertyValues(
                            "holdfast.open-at-startup=false",
                            "holdfast.store=redis://127.0.0.1:" + silent.getLocalPort(),
                            "holdfast.store-timeout=2s")
                    .run(context -> {
                        Ledger ledger = context.getBean(Ledger.class);
                        long begin = System.nanoTime();
                        List<CompletableFuture<Duration>> calls = new ArrayList<>();
                        for (int i = 0; i < 6; i++) {
                            calls.add(onNewThread(() -> {
                                assertThatThrownBy(ledger::append).isInstanceOf(StoreUnavailableException.class);
                                return Duration.ofNanos(System.nanoTime() - begin);
                            }));
                        }
                        for (CompletableFuture<Duration> each : calls) {
                            assertThat(each.get(60, TimeUnit.SECONDS)).isLessThan(Duration.ofSeconds(6));
                        }
                    });
        }
    }

    private static <T> CompletableFuture<T> onNewThread(Supplier<T> task) {
        return CompletableFuture.supplyAsync(task, runnable -> new Thread(runnable, "caller").start());
    }
}
