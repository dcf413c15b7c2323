package dev.holdfast.spring.boot;

import static dev.holdfast.spring.boot.Analyses.assertAnalysis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.LockDeadlockException;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@DisplayName("The auto-configuration")
class HoldfastAutoConfigurationTest {

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class));

    /** An application that uses locks. */
    @Configuration(proxyBeanMethods = false)
    static class UsesLocks {
        @Bean
        Hold hold(Holdfast holdfast) throws InterruptedException {
            return holdfast.lock("nightly-report").acquire();
        }
    }

    @Test
    @DisplayName("makes a client of the store that a URI names")
    void byUri(@TempDir Path directory) {
        runner.withUserConfiguration(UsesLocks.class)
                .withPropertyValues("holdfast.store=sqlite:" + directory.resolve("locks.db"), "holdfast.label=orders")
                .run(context -> {
                    assertThat(context).hasSingleBean(LockStore.class).hasSingleBean(Holdfast.class);
                    assertThat(context.getBean(Holdfast.class)).asString().contains("SQLite", "label 'orders'");
                    assertThat(context.getBean(Hold.class).isHeld()).isTrue();
                });
    }

    @Test
    @DisplayName("makes neither client nor store, and touches nothing, where nobody asks for a lock")
    void isLazy(@TempDir Path directory) {
        Path file = directory.resolve("locks.db");
        runner.withPropertyValues("holdfast.store=sqlite:" + file).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBeanFactory().containsSingleton("holdfast")).isFalse();
            assertThat(context.getBeanFactory().containsSingleton("holdfastLockStore"))
                    .isFalse();
            assertThat(file).doesNotExist();
        });
    }

    @Test
    @DisplayName("starts an application without any store if nobody asks for a lock")
    void needsNoStore() {
        runner.run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    @DisplayName("gives way to a store of the application's")
    void ownStore() {
        runner.withUserConfiguration(UsesLocks.class)
                .withBean("ours", LockStore.class, () -> {
                    StoreUri uri = StoreUri.parse("memory:");
                    return StoreProvider.of(uri).open(uri);
                })
                .run(context -> {
                    assertThat(context).hasSingleBean(LockStore.class).doesNotHaveBean("holdfastLockStore");
                    assertThat(context.getBean(Hold.class).isHeld()).isTrue();
                });
    }

    @Test
    @DisplayName("gives way to a client of the application's")
    void ownClient() {
        runner.withUserConfiguration(UsesLocks.class)
                .withBean("ours", Holdfast.class, () -> Holdfast.connect("memory:"))
                .run(context ->
                        assertThat(context).hasSingleBean(Holdfast.class).doesNotHaveBean("holdfast"));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnClient {
        @Bean
        Holdfast ours(HoldfastBuilderConfigurer configurer) {
            return configurer.configure(Holdfast.builder("memory:")).build();
        }
    }

    @Test
    @DisplayName("sets a client of the application's up by its properties, if that asks for it")
    void configuresOwnClient() {
        runner.withUserConfiguration(UsesLocks.class, OwnClient.class)
                .withPropertyValues("holdfast.label=of a property", "holdfast.name-prefix=orders:")
                .run(context -> {
                    assertThat(context.getBean(Holdfast.class)).asString().contains("of a property");
                    assertThat(context.getBean(Hold.class).name()).isEqualTo("orders:nightly-report");
                });
    }

    @Test
    @DisplayName("is off when it is told to be")
    void disabled() {
        runner.withPropertyValues("holdfast.enabled=false", "holdfast.store=memory:")
                .run(context -> assertThat(context)
                        .doesNotHaveBean(Holdfast.class)
                        .doesNotHaveBean(LockStore.class)
                        .doesNotHaveBean(HoldfastLifecycle.class));
    }

    @Test
    @DisplayName("lets listeners and customizers of the application's have a say")
    void customized() {
        List<String> requested = new ArrayList<>();
        runner.withUserConfiguration(UsesLocks.class)
                .withPropertyValues("holdfast.store=memory:")
                .withBean(HoldfastListener.class, () -> request -> {
                    requested.add(request.name());
                    return null;
                })
                .withBean(HoldfastBuilderCustomizer.class, () -> builder -> builder.label("from a customizer"))
                .run(context -> {
                    assertThat(context.getBean(Holdfast.class)).asString().contains("from a customizer");
                    assertThat(requested).containsExactly("nightly-report");
                });
    }

    @Test
    @DisplayName("says what to do when there is no store")
    void noStore() {
        runner.withUserConfiguration(UsesLocks.class)
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .satisfiesExactly(
                                what -> assertThat(what)
                                        .contains("There is no lock store", "'holdfast.store' is not set"),
                                action -> assertThat(action).contains("'redis://localhost'", "DataSource")));
    }

    @Test
    @DisplayName("names the artifact of a store that is not on the class path")
    void missingModule() {
        runner.withUserConfiguration(UsesLocks.class)
                .withClassLoader(new FilteredClassLoader("dev.holdfast.store.sqlite"))
                .withPropertyValues("holdfast.store=sqlite:")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .satisfiesExactly(
                                what -> assertThat(what).contains("'sqlite:'", "not on the class path"),
                                action -> assertThat(action).contains("dev.holdfast:holdfast-sqlite")));
    }

    @Test
    @DisplayName("names the artifact of a driver that is not on the class path")
    void missingDriver() {
        runner.withUserConfiguration(UsesLocks.class)
                .withPropertyValues("holdfast.store=mysql://shop:canary@localhost/shop")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .noneMatch(text -> text.contains("canary"))
                        .first()
                        .asString()
                        .contains(
                                "mysql://***@localhost/shop",
                                "no driver for 'mysql:' is on the class path",
                                "com.mysql:mysql-connector-j"));
    }

    @Test
    @DisplayName("shows a malformed URI without credentials")
    void malformed() {
        runner.withUserConfiguration(UsesLocks.class)
                .withPropertyValues("holdfast.store=postgresql://shop:canary@localhost")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .noneMatch(text -> text.contains("canary"))
                        .anyMatch(text -> text.contains("A database must have the form"))
                        .anyMatch(text -> text.contains("Correct the properties under 'holdfast'")));
    }

    @Test
    @DisplayName("refuses settings that contradict each other before it opens anything")
    void contradiction() {
        runner.withUserConfiguration(UsesLocks.class)
                .withPropertyValues("holdfast.store=memory:", "holdfast.session-ttl=10ms")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("sessionTtl"));
    }

    @Test
    @DisplayName("refuses properties out of range when the application starts, whether it uses locks or not")
    void ranges() {
        for (String property : new String[] {
            "holdfast.session-ttl=10ms",
            "holdfast.keep-alive-every=11s",
            "holdfast.store-timeout=0s",
            "holdfast.cohort-budget=-1ms",
            "holdfast.health-timeout=0s",
            "holdfast.health-tasks.report=0s",
            "holdfast.max-wait=-1s",
            "holdfast.at-most=1ms"
        }) {
            runner.withPropertyValues("holdfast.store=memory:", property)
                    .run(context -> assertAnalysis(context.getStartupFailure())
                            .as(property)
                            .first()
                            .asString()
                            .contains("A property under 'holdfast' is out of range"));
        }
        runner.withPropertyValues("holdfast.store=memory:", "holdfast.keep-alive-every=10s")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    @DisplayName("reads durations as annotations do, and as Spring Boot does")
    void durations() {
        runner.withPropertyValues(
                        "holdfast.store=memory:",
                        "holdfast.session-ttl=1m30s",
                        "holdfast.keep-alive-every=PT20S",
                        "holdfast.store-timeout=5000",
                        "holdfast.redis.command-timeout=1s500ms")
                .run(context -> {
                    HoldfastProperties properties = context.getBean(HoldfastProperties.class);
                    assertThat(properties.sessionTtl()).isEqualTo(Duration.ofSeconds(90));
                    assertThat(properties.keepAliveEvery()).isEqualTo(Duration.ofSeconds(20));
                    assertThat(properties.storeTimeout()).isEqualTo(Duration.ofSeconds(5));
                    assertThat(properties.redis().commandTimeout()).isEqualTo(Duration.ofMillis(1_500));
                    assertThat(properties.healthTimeout()).isEqualTo(Duration.ofSeconds(2));
                });
        runner.withPropertyValues("holdfast.session-ttl=a while")
                .run(context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("a while"));
    }

    @Test
    @DisplayName("names the application in the label, unless that is set")
    void label() {
        ApplicationContextRunner named =
                runner.withPropertyValues("holdfast.store=memory:", "spring.application.name=orders");
        named.run(context ->
                assertThat(context.getBean(Holdfast.class)).asString().contains("label 'orders ", "@", "pid"));
        named.withPropertyValues("holdfast.label=ours")
                .run(context ->
                        assertThat(context.getBean(Holdfast.class)).asString().contains("label 'ours'"));
    }

    @Test
    @DisplayName("refuses a pooler where it can't be told of it")
    void pooler() {
        ApplicationContextRunner behindPooler =
                runner.withUserConfiguration(UsesLocks.class).withPropertyValues("holdfast.jdbc.pooler=transaction");
        behindPooler
                .withBean(DataSource.class, () -> new StoreBeansTest.NamedDataSource("pool"))
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("'holdfast.jdbc.pooler' is set", "prepareThreshold=0"));
        behindPooler
                .withPropertyValues("holdfast.store=postgresql://localhost/shop?pooler=transaction")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("a pooler is set both in the URI"));
        behindPooler
                .withPropertyValues("holdfast.store=mysql://localhost/shop")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("pooler"));
    }

    @Test
    @DisplayName("puts user and password into the URI, encoded")
    void credentials() {
        runner.withUserConfiguration(UsesLocks.class)
                .withPropertyValues(
                        "holdfast.store=redis://localhost:1",
                        "holdfast.username=us:er",
                        "holdfast.password=can@ry",
                        "holdfast.store-timeout=20s")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .noneMatch(text -> text.contains("can@ry") || text.contains("can%40ry"))
                        .first()
                        .asString()
                        .contains("redis://***@localhost:1"));
    }

    @Test
    @DisplayName("refuses credentials twice, and those for a store without any")
    void credentialsThatDoNotFit() {
        ApplicationContextRunner withPassword =
                runner.withUserConfiguration(UsesLocks.class).withPropertyValues("holdfast.password=canary");
        withPassword
                .withPropertyValues("holdfast.store=redis://:another-canary@localhost")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .noneMatch(text -> text.contains("canary"))
                        .first()
                        .asString()
                        .contains("Credentials are set both in the URI"));
        withPassword
                .withPropertyValues("holdfast.store=memory:")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("has no login"));
    }

    @Test
    @DisplayName("puts a prefix before every name, so that tenants of one store don't meet")
    void namePrefix(@TempDir Path directory) {
        String store = "sqlite:" + directory.resolve("locks.db");
        runner.withUserConfiguration(UsesLocks.class)
                .withPropertyValues("holdfast.store=" + store, "holdfast.name-prefix=orders:")
                .run(context -> {
                    assertThat(context.getBean(Hold.class).name()).isEqualTo("orders:nightly-report");
                    try (Holdfast other = Holdfast.connect(store)) {
                        assertThat(other.lock("orders:nightly-report").tryAcquire())
                                .isEmpty();
                        assertThat(other.lock("nightly-report").tryAcquire()).isPresent();
                    }
                });
    }

    @Test
    @DisplayName("ends a wait of a deadlock, if a property says so")
    void onDeadlock() {
        runner.withPropertyValues(
                        "holdfast.store=memory:", "holdfast.open-at-startup=true", "holdfast.on-deadlock=fail")
                .run(context -> {
                    Holdfast holdfast = context.getBean(Holdfast.class);
                    CyclicBarrier bothHold = new CyclicBarrier(2);
                    CompletableFuture<Boolean> one = nested(holdfast, "a", "b", bothHold);
                    CompletableFuture<Boolean> two = nested(holdfast, "b", "a", bothHold);
                    assertThat(List.of(one.get(1, TimeUnit.MINUTES), two.get(1, TimeUnit.MINUTES)))
                            .containsExactlyInAnyOrder(true, false);
                });
    }

    /** Whether it got both locks, and not a deadlock. */
    private static CompletableFuture<Boolean> nested(
            Holdfast holdfast, String outer, String inner, CyclicBarrier bothHold) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try (Hold held = holdfast.lock(outer).acquire()) {
                        bothHold.await();
                        try (Hold both = holdfast.lock(inner).acquire()) {
                            return held.isHeld() && both.isHeld();
                        }
                    } catch (LockDeadlockException e) {
                        return false;
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                },
                task -> new Thread(task).start());
    }

    @Test
    @DisplayName("needs nothing to try again where the store is in the process")
    void retryOfLocalStore() {
        runner.withUserConfiguration(UsesLocks.class)
                .withPropertyValues("holdfast.store=memory:", "holdfast.startup-policy=retry")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    @DisplayName("refuses to try a store again later that can't be opened later")
    void retryThatDoesNotFit() {
        runner.withUserConfiguration(UsesLocks.class)
                .withPropertyValues("holdfast.store=custom:place", "holdfast.startup-policy=retry")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("'custom:place' can't be opened after"));
    }

    @Test
    @DisplayName("refuses an SSL bundle for a store that takes none")
    void bundleThatDoesNotFit() {
        ApplicationContextRunner withBundle =
                runner.withUserConfiguration(UsesLocks.class).withPropertyValues("holdfast.ssl.bundle=locks");
        withBundle
                .withPropertyValues("holdfast.store=memory:")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("'memory:' doesn't support SSL bundles"));
        withBundle
                .withPropertyValues("holdfast.store=postgresql://localhost/shop")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("database drivers don't support SSL bundles"));
        withBundle
                .withPropertyValues("holdfast.store=redis://localhost")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("begins with 'rediss'"));
    }
}
