package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.admin.ClientState;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.task.ScheduledTaskLock;
import dev.holdfast.task.TaskOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jmx.JmxEndpointAutoConfiguration;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.jmx.JmxEndpointsSupplier;
import org.springframework.boot.actuate.endpoint.jmx.JmxOperation;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.jmx.JmxAutoConfiguration;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroup;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@DisplayName("For those who operate an application")
class ActuatorTest {

    /** Reads its auto-configurations as applications do: without loading what they name. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        HoldfastAutoConfiguration.class,
        HoldfastEndpointAutoConfiguration.class,
        HoldfastHealthContributorAutoConfiguration.class
    })
    static class Application {}

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues("holdfast.store=memory:", "holdfast.label=orders-1", "spring.jmx.enabled=true")
            .withConfiguration(AutoConfigurations.of(
                    HoldfastAutoConfiguration.class,
                    HoldfastEndpointAutoConfiguration.class,
                    HoldfastHealthContributorAutoConfiguration.class,
                    EndpointAutoConfiguration.class,
                    JmxAutoConfiguration.class,
                    JmxEndpointAutoConfiguration.class,
                    HealthContributorRegistryAutoConfiguration.class,
                    HealthContributorAutoConfiguration.class,
                    HealthEndpointAutoConfiguration.class));

    private final ApplicationContextRunner exposed =
            runner.withPropertyValues("management.endpoints.jmx.exposure.include=holdfast,health");

    private static Stream<String> operations(AssertableApplicationContext context) {
        return context.getBean(JmxEndpointsSupplier.class).getEndpoints().stream()
                .filter(endpoint -> endpoint.getEndpointId().toString().equals("holdfast"))
                .flatMap(endpoint -> endpoint.getOperations().stream())
                .map(JmxOperation::getName);
    }

    private static HoldfastEndpoint.Locks only(HoldfastEndpoint.Clients clients) {
        assertThat(clients.clients()).containsOnlyKeys("holdfast");
        return clients.clients().values().iterator().next();
    }

    private static HoldfastEndpoint.Locks page(HoldfastEndpoint endpoint, @Nullable String prefix) {
        return only(endpoint.locks(null, prefix, null, null));
    }

    @Test
    @DisplayName("the endpoint lists who holds what, and shows one lock")
    void locks() {
        exposed.run(context -> {
            HoldfastEndpoint endpoint = context.getBean(HoldfastEndpoint.class);
            Holdfast holdfast = context.getBean(Holdfast.class);
            try (Hold hold = holdfast.lock("account/7").acquire();
                    Hold other = holdfast.lock("report").acquire()) {
                assertThat(page(endpoint, null).locks())
                        .extracting(HoldfastEndpoint.Lock::name)
                        .containsExactly("account/7", "report");
                assertThat(page(endpoint, "acc").locks()).hasSize(1);
                assertThat(endpoint.lock(null, "account", "7")).satisfies(lock -> {
                    assertThat(lock.holding()).isEqualTo(1);
                    assertThat(lock.holders()).singleElement().satisfies(holder -> {
                        assertThat(holder.label()).isEqualTo("orders-1");
                        assertThat(holder.token()).isEqualTo(hold.fencingToken());
                        assertThat(holder.leaseLeft()).isPositive();
                    });
                });
                assertThat(other.isHeld()).isTrue();
            }
            assertThat(page(endpoint, null).locks()).isEmpty();
            assertThat(endpoint.lock(null, "nobody")).isNull();
        });
    }

    @Test
    @DisplayName("the endpoint leads through all locks page by page")
    void pages() {
        exposed.run(context -> {
            HoldfastEndpoint endpoint = context.getBean(HoldfastEndpoint.class);
            Holdfast holdfast = context.getBean(Holdfast.class);
            for (String name : new String[] {"a", "b", "c"}) {
                assertThat(holdfast.lock(name).tryAcquire()).isPresent();
            }
            HoldfastEndpoint.Locks first = only(endpoint.locks(null, null, null, 2));
            assertThat(first.locks()).extracting(HoldfastEndpoint.Lock::name).containsExactly("a", "b");
            assertThat(only(endpoint.locks(null, null, first.nextCursor(), 2)).locks())
                    .extracting(HoldfastEndpoint.Lock::name)
                    .containsExactly("c");
        });
    }

    @Test
    @DisplayName("the endpoint takes a lock away by its token, and only if access is unrestricted")
    void release() {
        exposed.run(context -> assertThat(operations(context)).containsExactlyInAnyOrder("locks", "lock"));
        exposed.withPropertyValues("management.endpoint.holdfast.access=UNRESTRICTED")
                .run(context -> {
                    assertThat(operations(context)).contains("release");
                    HoldfastEndpoint endpoint = context.getBean(HoldfastEndpoint.class);
                    Hold hold = context.getBean(Holdfast.class).lock("report").acquire();
                    long token = hold.fencingToken();
                    assertThat(endpoint.release(null, token + 1_000_000_000_000L, "report")
                                    .released())
                            .isFalse();
                    assertThat(hold.isHeld()).isTrue();
                    assertThat(endpoint.release(null, token, "report").released())
                            .isTrue();
                    assertThat(endpoint.lock(null, "report")).matches(lock -> lock == null || lock.holding() == 0);
                });
    }

    @Test
    @DisplayName("the endpoint has the names of annotations, without the prefix of the client")
    void prefixes() {
        exposed.withPropertyValues("holdfast.name-prefix=orders:", "management.endpoint.holdfast.access=UNRESTRICTED")
                .run(context -> {
                    HoldfastEndpoint endpoint = context.getBean(HoldfastEndpoint.class);
                    Hold hold = context.getBean(Holdfast.class).lock("report").acquire();
                    assertThat(hold.name()).isEqualTo("orders:report");
                    assertThat(page(endpoint, "rep").locks())
                            .extracting(HoldfastEndpoint.Lock::name)
                            .containsExactly("report");
                    assertThat(page(endpoint, "orders:").locks()).isEmpty();
                    assertThat(endpoint.lock(null, "report"))
                            .extracting(HoldfastEndpoint.Lock::name)
                            .isEqualTo("report");
                    assertThat(endpoint.release(null, hold.fencingToken(), "report")
                                    .released())
                            .isTrue();
                });
    }

    @Test
    @DisplayName("the endpoint shows all clients, and one by its name")
    void severalClients() {
        exposed.withUserConfiguration(TwoClients.class).run(context -> {
            HoldfastEndpoint endpoint = context.getBean(HoldfastEndpoint.class);
            Holdfast other = context.getBean("reports", Holdfast.class);
            try (Hold hold = other.lock("report").acquire()) {
                assertThat(hold.isHeld()).isTrue();
                assertThat(endpoint.locks(null, null, null, null).clients())
                        .containsOnlyKeys("orders", "reports")
                        .satisfies(clients -> {
                            assertThat(clients.get("orders").locks()).isEmpty();
                            assertThat(clients.get("reports").locks()).hasSize(1);
                        });
                assertThat(endpoint.locks("orders", null, null, null).clients()).containsOnlyKeys("orders");
                assertThat(endpoint.lock("reports", "report")).isNotNull();
                assertThat(endpoint.lock("orders", "report")).isNull();
                assertBad(() -> endpoint.lock(null, "report"), "There are 2 clients, [orders, reports]");
                assertBad(() -> endpoint.lock("nobody", "report"), "There is no client 'nobody'");
            }
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoClients {
        @Bean
        Holdfast orders() {
            return Holdfast.connect("memory:");
        }

        @Bean
        Holdfast reports() {
            return Holdfast.connect("memory:");
        }
    }

    private static void assertBad(ThrowingCallable call, String problem) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        InvalidEndpointRequestException.class,
                        bad -> assertThat(bad.getReason()).contains(problem));
    }

    @Test
    @DisplayName("the endpoint takes bad input for what it is: a mistake of the caller's")
    void badInput() {
        exposed.run(context -> {
            HoldfastEndpoint endpoint = context.getBean(HoldfastEndpoint.class);
            assertBad(() -> endpoint.locks(null, null, null, 0), "A page may have 1 to");
            assertBad(() -> endpoint.locks(null, null, null, 1_000_000), "A page may have 1 to");
            assertBad(() -> endpoint.lock(null, " "), "");
            assertBad(() -> endpoint.release(null, -1, "report"), "token");
            assertBad(() -> endpoint.release(null, 1, "x".repeat(600)), "");
        });
    }

    @Test
    @DisplayName("the endpoint is there only where it is exposed")
    void notExposed() {
        runner.run(context -> assertThat(context).doesNotHaveBean(HoldfastEndpoint.class));
    }

    private static Health health(AssertableApplicationContext context) {
        return context.getBean(HoldfastHealthIndicator.class).health();
    }

    @Test
    @DisplayName("the health is that of a round trip, with what the client knows of itself")
    void healthy() {
        exposed.run(context -> {
            Hold hold = context.getBean(Holdfast.class).lock("report").acquire();
            assertThat(hold.isHeld()).isTrue();
            Health health = health(context);
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails())
                    .extractingByKey("holdfast", InstanceOfAssertFactories.MAP)
                    .containsEntry("status", ClientState.Status.CONNECTED)
                    .containsEntry("holds", 1)
                    .containsKeys("roundTrip", "sessionLeft");
        });
    }

    @Test
    @DisplayName("a task that a property names is out of service if it has not succeeded for too long, in any process")
    void tasks() {
        exposed.run(context -> assertThat(context).doesNotHaveBean(HoldfastTasksHealthIndicator.class));
        exposed.withPropertyValues("holdfast.name-prefix=ours/", "holdfast.health-tasks.report=25h")
                .run(context -> {
                    assertThat(tasks(context, Duration.ZERO).getStatus())
                            .as("no client yet")
                            .isEqualTo(Status.UNKNOWN);
                    ScheduledTaskLock task = context.getBean(Holdfast.class).task("report");
                    assertThat(tasks(context, Duration.ofHours(24)).getStatus())
                            .as("never run")
                            .isEqualTo(Status.UP);
                    assertThat(tasks(context, Duration.ofHours(26)).getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
                    TaskOptions options = TaskOptions.atMost(Duration.ofMinutes(1));
                    task.runIfDue(options, hold -> {});
                    assertThatThrownBy(() -> task.runIfDue(options, hold -> {
                                throw new IllegalStateException("no");
                            }))
                            .isInstanceOf(IllegalStateException.class);
                    await().until(() ->
                            context.getBean(Holdfast.class).runs("ours/report").size() == 2);
                    Health late = tasks(context, Duration.ofHours(26));
                    assertThat(late.getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
                    assertThat(late.getDetails())
                            .extractingByKey("report", InstanceOfAssertFactories.MAP)
                            .containsEntry("lastOutcome", RecordedRun.Outcome.FAILED)
                            .containsKeys("succeeded", "problem");
                    assertThat(context.getBean(HoldfastTasksHealthIndicator.class)
                                    .health()
                                    .getStatus())
                            .isEqualTo(Status.UP);
                });
    }

    /** The health of the tasks of an application that was started now, at a later time. */
    private static Health tasks(AssertableApplicationContext context, Duration later) {
        AtomicReference<Instant> now = new AtomicReference<>(Instant.now());
        HoldfastProperties properties = context.getBean(HoldfastProperties.class);
        HoldfastTasksHealthIndicator indicator = new HoldfastTasksHealthIndicator(
                context.getBean(HoldfastClients.class), properties.healthTasks(), properties.healthTimeout(), now::get);
        now.set(now.get().plus(later));
        return indicator.health();
    }

    @Test
    @DisplayName("a look at the health makes no client where none was needed yet")
    void unused() {
        exposed.run(context -> {
            assertThat(health(context).getStatus()).isEqualTo(Status.UNKNOWN);
            assertThat(context.getBeanFactory().containsSingleton("holdfast")).isFalse();
        });
    }

    @Test
    @DisplayName("a store that hangs is down after the time that a look may take")
    void hanging() {
        Hanging store = new Hanging();
        exposed.withPropertyValues("holdfast.health-timeout=100ms")
                .withBean(LockStore.class, () -> store)
                .run(context -> {
                    assertThat(context.getBean(Holdfast.class)).isNotNull();
                    store.hangs = true;
                    Health health = health(context);
                    assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                    assertThat(health.getDetails().get("holdfast"))
                            .isInstanceOfSatisfying(
                                    Map.class, details -> assertThat(details).containsKey("problem"));
                    store.hangs = false;
                });
    }

    /** Answers nothing while it hangs. */
    private static final class Hanging extends ForwardingStore {
        private static final StoreUri MEMORY = StoreUri.parse("memory:");
        private volatile boolean hangs;

        Hanging() {
            super(StoreProvider.of(MEMORY).open(MEMORY));
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            return hangs ? new CompletableFuture<>() : super.execute(command, caller);
        }
    }

    @Test
    @DisplayName("the health of the store is no matter of liveness or readiness unless somebody says so")
    void groups() {
        ApplicationContextRunner withProbes =
                exposed.withPropertyValues("management.endpoint.health.probes.enabled=true");
        withProbes.run(context -> assertThat(isMember(context, "liveness")).isFalse());
        exposed.withPropertyValues(
                        "management.endpoint.health.group.readiness.include=holdfast",
                        "management.endpoint.health.validate-group-membership=false")
                .run(context -> assertThat(isMember(context, "readiness")).isTrue());
    }

    private static boolean isMember(AssertableApplicationContext context, String name) {
        HealthEndpointGroup group = context.getBean(HealthEndpointGroups.class).get(name);
        return group != null && group.isMember("holdfast");
    }

    @Test
    @DisplayName("the health indicator can be switched off")
    void disabled() {
        exposed.withPropertyValues("management.health.holdfast.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(HoldfastHealthIndicator.class));
    }

    @Test
    @DisplayName("an application without the actuator starts all the same")
    void withoutActuator() {
        new ApplicationContextRunner()
                .withPropertyValues("holdfast.store=memory:")
                .withUserConfiguration(Application.class)
                .withClassLoader(
                        new FilteredClassLoader("org.springframework.boot.actuate", "org.springframework.boot.health"))
                .run(context -> assertThat(context)
                        .hasSingleBean(Holdfast.class)
                        .doesNotHaveBean("holdfastEndpoint")
                        .doesNotHaveBean("holdfastHealthIndicator"));
    }
}
