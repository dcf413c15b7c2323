package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.EnableHoldfast;
import dev.holdfast.spring.LockTemplate;
import dev.holdfast.spring.Locked;
import dev.holdfast.spring.LockedDefaults;
import dev.holdfast.spring.LossReaction;
import dev.holdfast.spring.ReactiveLockTemplate;
import dev.holdfast.spring.ScheduledLock;
import dev.holdfast.spring.SurroundingTransaction;
import dev.holdfast.spring.TimeoutReaction;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

@DisplayName("Annotations for locks")
class LockedTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
            .withPropertyValues("holdfast.store=memory:");

    /** A service with a locked method. */
    static class Ledger {
        @Locked(name = "ledger", key = "#account")
        List<String> append(String account) {
            return CurrentLocks.names();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {
        @Bean
        Ledger ledger() {
            return new Ledger();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast(order = 7)
    static class OwnOrder {}

    @Test
    @DisplayName("are effective without configuration")
    void effective() {
        runner.withUserConfiguration(Application.class)
                .withPropertyValues("holdfast.name-prefix=orders:")
                .run(context ->
                        assertThat(context.getBean(Ledger.class).append("7")).containsExactly("ledger/7"));
    }

    @Test
    @DisplayName("wait as long as the property says, and so does the template")
    void maxWait() throws Exception {
        runner.withUserConfiguration(Application.class)
                .withPropertyValues("holdfast.max-wait=0s")
                .run(context -> {
                    assertThat(context.getBean(LockedDefaults.class).maxWait()).isEqualTo(Duration.ZERO);
                    LockTemplate locks = context.getBean(LockTemplate.class);
                    assertThat(locks.call("ledger", CurrentLocks::names)).containsExactly("ledger");
                });
    }

    /** Methods that leave open what properties set. */
    static class Jobs {
        private String state = "";

        @Locked("job")
        String skipped() {
            return "run";
        }

        @Locked(name = "job", onTimeout = TimeoutReaction.THROW)
        String throwing() {
            return "run";
        }

        @ScheduledLock(name = "report")
        void report() {
            state = "run";
        }

        String state() {
            return state;
        }
    }

    @Test
    @DisplayName("have defaults by properties, which they override")
    void defaults() {
        runner.withBean(Jobs.class)
                .withPropertyValues(
                        "holdfast.max-wait=0s",
                        "holdfast.on-timeout=skip",
                        "holdfast.on-loss=event",
                        "holdfast.surrounding-transaction=refuse",
                        "holdfast.at-most=1h")
                .run(context -> {
                    LockedDefaults defaults = context.getBean(LockedDefaults.class);
                    assertThat(defaults.onLoss()).isEqualTo(LossReaction.EVENT);
                    assertThat(defaults.surroundingTransaction()).isEqualTo(SurroundingTransaction.REFUSE);
                    Jobs jobs = context.getBean(Jobs.class);
                    Holdfast holdfast = context.getBean(Holdfast.class);
                    Hold other = holdfast.lock("job")
                            .acquireAsync()
                            .toCompletableFuture()
                            .join();
                    assertThat(jobs.skipped()).isNull();
                    assertThatThrownBy(jobs::throwing).isInstanceOf(LockWaitTimeoutException.class);
                    other.close();
                    assertThat(jobs.skipped()).isEqualTo("run");
                    jobs.report();
                    assertThat(jobs.state()).isEqualTo("run");
                });
    }

    @Test
    @DisplayName("are not the only way: there are templates, under names that no other library has")
    void templates() {
        runner.run(context -> {
            assertThat(context)
                    .hasBean("holdfastLockTemplate")
                    .hasBean("holdfastReactiveLockTemplate")
                    .hasBean("holdfastLockedDefaults");
            assertThat(context.getBean(ReactiveLockTemplate.class)
                            .call("ledger", () -> Mono.just(CurrentLocks.names()))
                            .block())
                    .containsExactly("ledger");
        });
    }

    @Test
    @DisplayName("take defaults of the application's, and its order among other advice")
    void own() {
        runner.withUserConfiguration(Application.class, OwnOrder.class)
                .withBean(LockedDefaults.class, () -> LockedDefaults.standard().withMaxWait(Duration.ofSeconds(3)))
                .run(context -> {
                    assertThat(context.getBean(LockedDefaults.class).maxWait()).isEqualTo(Duration.ofSeconds(3));
                    assertThat(context.getBean(Ledger.class).append("7")).containsExactly("ledger/7");
                    assertThat(context.getBeanFactory()
                                    .getMergedBeanDefinition("dev.holdfast.spring.lockedAdvisor")
                                    .getPropertyValues()
                                    .get("order"))
                            .isEqualTo(7);
                });
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
    static class WithoutAnnotations {
        @Bean
        String uses(ObjectProvider<Holdfast> holdfast) {
            return holdfast.getObject().toString();
        }
    }

    @Test
    @DisplayName("are not needed: a client is there without their module")
    void withoutModule() {
        new ApplicationContextRunner()
                .withUserConfiguration(WithoutAnnotations.class)
                .withPropertyValues("holdfast.store=memory:")
                .withClassLoader(new FilteredClassLoader("dev.holdfast.spring.EnableHoldfast"))
                .run(context -> assertThat(context)
                        .hasSingleBean(Holdfast.class)
                        .doesNotHaveBean("holdfastLockedDefaults")
                        .doesNotHaveBean("dev.holdfast.spring.lockedAdvisor"));
    }
}
