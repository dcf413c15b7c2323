package dev.holdfast.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spring.LockTemplate;
import dev.holdfast.spring.ScheduledLock;
import dev.holdfast.spring.boot.HoldfastBuilderCustomizer;
import dev.holdfast.test.TestStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

@DisplayName("An application on Spring Boot, with a store that is not there")
@SpringBootTest(
        classes = BootTest.Application.class,
        properties = {
            "holdfast.store=redis://user:secret@does.not.exist.invalid",
            "holdfast.session-ttl=5s",
            "holdfast.name-prefix=orders:",
            "holdfast.max-wait=1s"
        })
@EmbeddedHoldfast
class BootTest {

    @Configuration(proxyBeanMethods = false)
    // Other tests that run on the same class path have a pool, but there is no database.
    @EnableAutoConfiguration(excludeName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
    @Import(Reports.class)
    static class Application {

        @Bean
        HoldfastListener names() {
            return request -> {
                NAMES.add(request.name());
                return null;
            };
        }

        @Bean
        HoldfastBuilderCustomizer timeout() {
            return builder -> builder.storeTimeout(Duration.ofSeconds(2));
        }

        /** As the page on Spring Boot has a second client. */
        @Bean(defaultCandidate = false)
        @Qualifier("audit")
        Holdfast audit() {
            throw new AssertionError("connects to a server");
        }
    }

    static class Reports {
        private int runs;

        @ScheduledLock(name = "nightly", atMost = "1h", atLeast = "10m")
        public void report() {
            runs++;
        }

        int runs() {
            return runs;
        }
    }

    static final List<String> NAMES = new CopyOnWriteArrayList<>();

    @Autowired
    ApplicationContext context;

    @Autowired
    Holdfast client;

    @Autowired
    TestStore store;

    @Autowired
    Reports reports;

    @Test
    @DisplayName("has the beans of its configuration, by their names, on the test's store")
    void replacesBeans(@Autowired LockStore lockStore, Holdfast parameter, TestStore storeParameter) {
        assertThat(context.getBean("holdfast")).isSameAs(client).isSameAs(store.client());
        assertThat(context.getBean("holdfastLockStore")).isSameAs(lockStore).isSameAs(store.lockStore());
        assertThat(parameter).isSameAs(client);
        assertThat(storeParameter).isSameAs(store);
    }

    @Test
    @DisplayName("has its client set up as configured")
    void keepsSettings() throws Exception {
        NAMES.clear();
        Hold hold = client.lock("ledger").acquire();
        store.assertHeld("orders:ledger");
        assertThat(NAMES).containsExactly("orders:ledger");
        assertThat(hold.remaining()).isLessThan(Duration.ofSeconds(5));
        hold.close();
    }

    @Test
    @DisplayName("has its second client as another one of the store, by its qualifier")
    void hasSecondClient(@Autowired @Qualifier("audit") Holdfast audit) throws Exception {
        assertThat(audit).isNotSameAs(client).isSameAs(context.getBean("audit"));
        try (Hold hold = audit.lock("orders:ledger").acquire()) {
            assertThat(client.lock("ledger").tryAcquire()).isEmpty();
            assertThat(hold.isHeld()).isTrue();
        }
    }

    @Test
    @DisplayName("runs the template with the application's wait")
    void runsTemplate(@Autowired LockTemplate locks) throws Exception {
        Hold other = store.take("orders:ledger");
        assertThatThrownBy(() -> store.runWhileTimePasses(() -> locks.run("ledger", () -> {})))
                .hasMessageContaining("within 1 s");
        other.close();
        locks.run("ledger", () -> store.assertHeld("orders:ledger"));
    }

    @RepeatedTest(2)
    @DisplayName("runs a scheduled task that the test before has run")
    void runsTask() {
        int before = reports.runs();
        reports.report();
        reports.report();
        assertThat(reports.runs()).isEqualTo(before + 1);
        store.assertHeld("orders:nightly");
        store.advance(Duration.ofMinutes(11));
        reports.report();
        assertThat(reports.runs()).isEqualTo(before + 2);
    }

    @Nested
    @DisplayName("in a nested class")
    class InNested {

        @Test
        @DisplayName("has the same context")
        void sameContext(TestStore nested, @Autowired ApplicationContext here) {
            assertThat(nested).isSameAs(store);
            assertThat(here).isSameAs(context);
        }
    }
}
