package dev.holdfast.spring.applications;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.Locked;
import io.github.resilience4j.circuitbreaker.annotation.CircuitBreaker;
import io.github.resilience4j.retry.annotation.Retry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.retry.annotation.Retryable;

@Timeout(180)
@DisplayName("A locked method that is retried")
@ExtendWith(OutputCaptureExtension.class)
class RetriesTest {

    private static final String WARNING = "which is held during all attempts and pauses";

    /** Tells the tokens of its attempts, of which the third succeeds. */
    static class Attempts {

        private final List<Long> tokens = new ArrayList<>();

        private List<Long> attempt() {
            tokens.add(CurrentLocks.fencingToken());
            if (tokens.size() < 3) {
                throw new IllegalStateException("attempt " + tokens.size());
            }
            return tokens;
        }
    }

    static class WithSpringRetry extends Attempts {

        @Locked("ledger")
        @Retryable(maxAttempts = 3, backoff = @Backoff(delay = 1))
        public List<Long> append() {
            return super.attempt();
        }
    }

    static class WithResilience extends Attempts {

        @Locked("ledger")
        @Retry(name = "ledger")
        public List<Long> append() {
            return super.attempt();
        }
    }

    static class StageWithResilience extends Attempts {

        @Locked("ledger")
        @Retry(name = "ledger")
        public CompletableFuture<List<Long>> append() {
            return CompletableFuture.completedFuture(super.attempt());
        }
    }

    static class WithCircuitBreaker {

        @Locked("ledger")
        @CircuitBreaker(name = "ledger")
        public long append() {
            return CurrentLocks.fencingToken();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableRetry
    static class Inside {}

    @Configuration(proxyBeanMethods = false)
    @EnableRetry(order = 0)
    static class Outside {}

    private static ConfigurableApplicationContext start(Class<?> bean, Class<?> configuration, String... properties) {
        return Applications.open(WebApplicationType.NONE, bean, configuration)
                .properties("holdfast.store=memory:")
                .properties("resilience4j.retry.instances.ledger.maxAttempts=3")
                .properties("resilience4j.retry.instances.ledger.waitDuration=1ms")
                .properties(properties)
                .run();
    }

    @Test
    @DisplayName("by spring-retry inside of the lock has one token for all attempts, and the start warns of it")
    void springRetryInside(CapturedOutput output) {
        try (ConfigurableApplicationContext context = start(WithSpringRetry.class, Inside.class)) {
            assertThat(output.getOut()).containsOnlyOnce(WARNING).contains("WithSpringRetry#append");
            assertOneToken(context.getBean(WithSpringRetry.class).append());
        }
    }

    @Test
    @DisplayName("by spring-retry outside of the lock has a token for each attempt")
    void springRetryOutside(CapturedOutput output) {
        try (ConfigurableApplicationContext context = start(WithSpringRetry.class, Outside.class)) {
            assertThat(output.getOut()).doesNotContain(WARNING);
            assertTokens(context.getBean(WithSpringRetry.class).append());
        }
    }

    @Test
    @DisplayName("by Resilience4j inside of the lock has one token for all attempts, and the start warns of it")
    void resilienceInside(CapturedOutput output) {
        try (ConfigurableApplicationContext context = start(WithResilience.class, Inside.class)) {
            assertThat(output.getOut()).containsOnlyOnce(WARNING).contains("WithResilience#append");
            assertOneToken(context.getBean(WithResilience.class).append());
        }
    }

    @Test
    @DisplayName("by Resilience4j outside of the lock has a token for each attempt")
    void resilienceOutside(CapturedOutput output) {
        try (ConfigurableApplicationContext context =
                start(WithResilience.class, Inside.class, "resilience4j.retry.retryAspectOrder=0")) {
            assertThat(output.getOut()).doesNotContain(WARNING);
            assertTokens(context.getBean(WithResilience.class).append());
        }
    }

    @Test
    @DisplayName("by Resilience4j outside of the lock has a token for each attempt when it returns a stage, too")
    void stageOutside() throws Exception {
        try (ConfigurableApplicationContext context =
                start(StageWithResilience.class, Inside.class, "resilience4j.retry.retryAspectOrder=0")) {
            assertTokens(context.getBean(StageWithResilience.class).append().get(60, TimeUnit.SECONDS));
        }
    }

    @Test
    @DisplayName("is warned of, and not one with another pattern of Resilience4j")
    void circuitBreaker(CapturedOutput output) {
        try (ConfigurableApplicationContext context = start(WithCircuitBreaker.class, Inside.class)) {
            assertThat(context.getBean(WithCircuitBreaker.class).append()).isPositive();
            assertThat(output.getOut()).doesNotContain(WARNING);
        }
    }

    private static void assertOneToken(List<Long> tokens) {
        assertThat(tokens).hasSize(3).containsOnly(tokens.get(0));
    }

    private static void assertTokens(List<Long> tokens) {
        assertThat(tokens).hasSize(3).doesNotHaveDuplicates().isSorted();
    }
}
