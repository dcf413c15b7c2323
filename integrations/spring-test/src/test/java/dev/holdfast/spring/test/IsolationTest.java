package dev.holdfast.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.spring.EnableHoldfast;
import dev.holdfast.spring.Locked;
import dev.holdfast.test.TestStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;
import org.springframework.test.context.transaction.AfterTransaction;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

@DisplayName("What one test leaves behind")
class IsolationTest {

    /** The contexts that the tests of the fixture that runs have seen, in their order. */
    static final List<ApplicationContext> CONTEXTS = new ArrayList<>();

    static final List<CompletionStage<?>> LEFT = new ArrayList<>();

    private static void run(Class<?> tests, int succeeded, int failed) {
        CONTEXTS.clear();
        LEFT.clear();
        EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(tests))
                .execute()
                .testEvents()
                .assertStatistics(events -> events.succeeded(succeeded).failed(failed));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    @EnableTransactionManagement
    static class Application {

        @Bean
        Holdfast holdfast() {
            throw new AssertionError("connects to a server");
        }

        @Bean
        Ledger ledger() {
            return new Ledger();
        }

        @Bean
        DataSource database() {
            return new SingleConnectionDataSource("jdbc:sqlite::memory:", true);
        }

        @Bean
        DataSourceTransactionManager transactions(DataSource database) {
            return new DataSourceTransactionManager(database);
        }
    }

    static class Ledger {
        @Locked(name = "ledger")
        public void append(Runnable work) {
            work.run();
        }
    }

    @SpringJUnitConfig(Application.class)
    @EmbeddedHoldfast
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    abstract static class Fixture {

        @Autowired
        TestStore store;

        @Autowired
        Holdfast client;

        @Autowired
        Ledger ledger;

        @BeforeEach
        void note(@Autowired ApplicationContext context) {
            CONTEXTS.add(context);
        }

        void isAsGoodAsNew() {
            store.assertNothingHeld();
            assertThat(client).isSameAs(store.client());
            ledger.append(() -> store.assertHeld("ledger"));
            store.take("ledger").close();
        }
    }

    @Test
    @DisplayName(
            "as faults, locks taken by others and things to happen later, is gone in the next, in the same context")
    void resets() {
        run(Faults.class, 3, 1);
        assertThat(CONTEXTS).hasSize(4).containsOnly(CONTEXTS.get(0));
    }

    static class Faults extends Fixture {
        @Test
        @Order(1)
        void isDown() {
            store.goDown();
            store.slowDown(Duration.ofSeconds(3));
            store.advance(Duration.ofMinutes(10));
        }

        @Test
        @Order(2)
        void isTaken() {
            isAsGoodAsNew();
            Hold other = store.take("ledger");
            store.after(Duration.ofMinutes(1), () -> fail("happens in another test"));
            assertThat(other.isHeld()).isFalse(); // fails
        }

        @Test
        @Order(3)
        void isLost() {
            isAsGoodAsNew();
            store.advance(Duration.ofHours(1));
            store.pause(Duration.ofHours(1));
            store.goSilent();
        }

        @Test
        @Order(4)
        void isNew() {
            isAsGoodAsNew();
        }
    }

    @Test
    @DisplayName("as a lock that is not closed, or that was lost and is not closed, costs the next a new context")
    void replacesContext() {
        run(Leaks.class, 3, 1);
        assertThat(CONTEXTS).hasSize(4).doesNotHaveDuplicates();
    }

    static class Leaks extends Fixture {
        @Test
        @Order(1)
        void holds() throws Exception {
            assertThat(client.lock("ledger").acquire().isHeld()).isFalse(); // fails
        }

        @Test
        @Order(2)
        void loses() throws Exception {
            isAsGoodAsNew();
            var unused = client.lock("ledger").acquire();
            store.loseLock("ledger");
        }

        @Test
        @Order(3)
        void countsDown() {
            isAsGoodAsNew();
            assertThat(client.latch("ready").trySetCount(1)).isTrue();
        }

        @Test
        @Order(4)
        void isNew() {
            isAsGoodAsNew();
        }
    }

    @Test
    @DisplayName("as a call that waits without end, is ended with its context")
    void endsWaits() {
        run(Waits.class, 2, 0);
        assertThat(CONTEXTS).hasSize(2).doesNotHaveDuplicates();
        assertThat(LEFT)
                .singleElement()
                .satisfies(left -> assertThat(left.toCompletableFuture()).failsWithin(Duration.ofSeconds(60)));
    }

    static class Waits extends Fixture {
        @Test
        @Order(1)
        void waits() {
            var unused = store.take("ledger");
            CompletableFuture<Hold> left = client.lock("ledger").acquireAsync().toCompletableFuture();
            store.awaitWaiting("ledger", 1);
            LEFT.add(left);
        }

        @Test
        @Order(2)
        void isNew() {
            isAsGoodAsNew();
        }
    }

    @Test
    @DisplayName(
            "as a lock that is kept to the end of the test's transaction, is released at that end, also under a fault")
    void endsTransactions() {
        run(Transactions.class, 2, 0);
        assertThat(CONTEXTS).hasSize(2).containsOnly(CONTEXTS.get(0));
    }

    static class Transactions extends Fixture {
        @Test
        @Order(1)
        @Transactional
        void keeps() {
            ledger.append(() -> {});
            store.assertHeld("ledger");
            store.goSilent();
        }

        @AfterTransaction
        void isReleased() {
            store.assertNothingHeld();
        }

        @Test
        @Order(2)
        void isNew() {
            isAsGoodAsNew();
        }
    }
}
