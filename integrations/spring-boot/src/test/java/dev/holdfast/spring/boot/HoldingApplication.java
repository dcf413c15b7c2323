package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.util.function.Supplier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** An application that holds a lock to its end. */
@Configuration(proxyBeanMethods = false)
class HoldingApplication {

    @Bean
    Held held(Holdfast holdfast) throws InterruptedException {
        return new Held(holdfast.lock("nightly-report").acquire());
    }

    /** What it holds, as a bean that nobody closes. */
    record Held(Hold hold) {}

    /** The application holds its lock while it runs, and has given it back when it is closed, before the lease ends. */
    static void holdsWhileItRuns(ApplicationContextRunner application, Supplier<Holdfast> connecting) {
        try (Holdfast other = connecting.get()) {
            application.run(context -> {
                assertThat(context).hasNotFailed();
                assertThat(context.getBean(Held.class).hold().isHeld()).isTrue();
                assertThat(other.lock("nightly-report").tryAcquire()).isEmpty();
            });
            try (Hold free = other.lock("nightly-report").tryAcquire().orElseThrow()) {
                assertThat(free.isHeld()).isTrue();
            }
        }
    }
}
