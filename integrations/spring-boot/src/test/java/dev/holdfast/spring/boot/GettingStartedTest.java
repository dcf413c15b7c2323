package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockWaitTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Service;

@DisplayName("An application on Spring Boot")
@ExtendWith(OutputCaptureExtension.class)
class GettingStartedTest {

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
    @Import(Ledger.class)
    static class Application {}

    @Service
    static class Ledger {
        private final List<Long> tokens = new ArrayList<>();
        private final DistributedLock lock;

        Ledger(Holdfast holdfast) {
            lock = holdfast.lock("ledger");
        }

        void append(String entry) throws InterruptedException {
            try (Hold hold = lock.acquire(Duration.ofSeconds(5))) {
                write(entry, hold.fencingToken());
            }
        }

        void write(String entry, long token) {
            assertThat(entry).isNotEmpty();
            tokens.add(token);
        }
    }

    @Test
    @DisplayName("shares its locks with another on the same store")
    void twoApplications(@TempDir Path directory) throws Exception {
        String store = "--holdfast.store=sqlite:" + directory.resolve("locks.db");
        try (ConfigurableApplicationContext one = SpringApplication.run(Application.class, store);
                ConfigurableApplicationContext two = SpringApplication.run(Application.class, store)) {
            Ledger first = one.getBean(Ledger.class);
            Ledger second = two.getBean(Ledger.class);
            try (Hold hold = first.lock.acquire()) {
                assertThat(catchThrowable(() -> second.lock.acquire(Duration.ZERO)))
                        .isInstanceOf(LockWaitTimeoutException.class);
                assertThat(hold.isHeld()).isTrue();
            }
            first.append("a");
            second.append("b");
            assertThat(second.tokens.get(0)).isGreaterThan(first.tokens.get(0));
        }
    }

    @Test
    @DisplayName("says what is missing, and what to do, instead of a stack trace")
    void failure(CapturedOutput output) {
        assertThat(catchThrowable(() -> SpringApplication.run(Application.class)))
                .isNotNull();
        assertThat(output)
                .contains("APPLICATION FAILED TO START", "There is no lock store", "Set 'holdfast.store' to the URI");
    }
}
