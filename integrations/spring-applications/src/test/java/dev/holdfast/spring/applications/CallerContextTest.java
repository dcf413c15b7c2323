package dev.holdfast.spring.applications;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.Locked;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.concurrent.DelegatingSecurityContextRunnable;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.task.DelegatingSecurityContextAsyncTaskExecutor;
import reactor.core.publisher.Mono;

@Timeout(180)
@DisplayName("A locked method sees the user and the logging context of its caller,")
class CallerContextTest {

    private static final String CALLER = "alice in request 7";

    static class Ledger {

        private static String caller() {
            assertThat(CurrentLocks.hold().isHeld()).isTrue();
            Authentication user = SecurityContextHolder.getContext().getAuthentication();
            return (user == null ? "nobody" : user.getName()) + " in request " + MDC.get("request");
        }

        @Locked("ledger")
        public String value() {
            return caller();
        }

        @Locked("ledger")
        public CompletableFuture<String> stage() {
            return CompletableFuture.completedFuture(caller());
        }

        @Async
        @Locked("ledger")
        public CompletableFuture<String> async() {
            return CompletableFuture.completedFuture(caller());
        }

        @Locked("ledger")
        public Mono<String> mono() {
            return ReactiveSecurityContextHolder.getContext()
                    .map(context -> String.valueOf(context.getAuthentication().getName()));
        }
    }

    /** Takes along what Spring Security and the logging facade keep for a thread. */
    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Decorators {

        @Bean
        TaskDecorator user() {
            return DelegatingSecurityContextRunnable::new;
        }

        @Bean
        TaskDecorator loggingContext() {
            return task -> {
                Map<String, String> context = MDC.getCopyOfContextMap();
                return () -> {
                    MDC.setContextMap(context);
                    try {
                        task.run();
                    } finally {
                        MDC.clear();
                    }
                };
            };
        }
    }

    /** The executor of Spring Security, which takes the user of the thread that calls it. */
    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class SecurityExecutor {

        @Bean
        DelegatingSecurityContextAsyncTaskExecutor taskExecutor() {
            return new DelegatingSecurityContextAsyncTaskExecutor(new SimpleAsyncTaskExecutor("task-"));
        }
    }

    @BeforeEach
    void request() {
        SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("alice", "secret"));
        MDC.put("request", "7");
    }

    @AfterEach
    void endOfRequest() {
        SecurityContextHolder.clearContext();
        MDC.clear();
    }

    private static ConfigurableApplicationContext start(Class<?>... beans) {
        return Applications.open(WebApplicationType.NONE, beans)
                .sources(Ledger.class)
                .properties("holdfast.store=memory:caller-context")
                .run();
    }

    /** What a method sees that has to wait for its lock, so that it begins on a thread of another. */
    private static String afterWait(CompletableFuture<String> seen, Hold hold) throws Exception {
        assertThat(seen.isDone()).isFalse();
        hold.close();
        return seen.get(30, TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("however it returns, if there are task decorators for them")
    void decorators() throws Exception {
        try (ConfigurableApplicationContext context = start(Decorators.class);
                Holdfast other = Holdfast.connect("memory:caller-context")) {
            Ledger ledger = context.getBean(Ledger.class);
            assertThat(ledger.value()).isEqualTo(CALLER);
            Hold hold = other.lock("ledger").acquire();
            assertThat(afterWait(ledger.stage(), hold)).isEqualTo(CALLER);
            hold = other.lock("ledger").acquire();
            assertThat(afterWait(ledger.async(), hold)).isEqualTo(CALLER);
        }
    }

    @Test
    @DisplayName("with @Async on an executor of Spring Security")
    void executorOfSpringSecurity() throws Exception {
        try (ConfigurableApplicationContext context = start(SecurityExecutor.class);
                Holdfast other = Holdfast.connect("memory:caller-context")) {
            Hold hold = other.lock("ledger").acquire();
            assertThat(afterWait(context.getBean(Ledger.class).async(), hold)).startsWith("alice in");
        }
    }

    @Test
    @DisplayName("without @Async on such an executor if there is a task decorator")
    void stageOnExecutorOfSpringSecurity() throws Exception {
        try (ConfigurableApplicationContext context = start(SecurityExecutor.class, Decorators.class);
                Holdfast other = Holdfast.connect("memory:caller-context")) {
            Hold hold = other.lock("ledger").acquire();
            assertThat(afterWait(context.getBean(Ledger.class).stage(), hold)).isEqualTo(CALLER);
        }
    }

    @Test
    @DisplayName("in a Mono by the context of the subscriber")
    void subscriber() throws Exception {
        try (ConfigurableApplicationContext context = start(Decorators.class);
                Holdfast other = Holdfast.connect("memory:caller-context")) {
            Hold hold = other.lock("ledger").acquire();
            CompletableFuture<String> seen = context.getBean(Ledger.class)
                    .mono()
                    .contextWrite(ReactiveSecurityContextHolder.withAuthentication(
                            new TestingAuthenticationToken("alice", "secret")))
                    .toFuture();
            assertThat(afterWait(seen, hold)).isEqualTo("alice");
        }
    }
}
