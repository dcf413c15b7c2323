package dev.holdfast.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;

@DisplayName("The extension")
class HoldfastExtensionTest {

    private static EngineExecutionResults run(Class<?> tests) {
        return EngineTestKit.engine("junit-jupiter")
                .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
                .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
                .configurationParameter("junit.jupiter.execution.parallel.config.fixed.parallelism", "2")
                .selectors(selectClass(tests))
                .execute();
    }

    private static void passes(Class<?> tests, int number) {
        EngineExecutionResults results = run(tests);
        results.testEvents().assertStatistics(events -> events.succeeded(number).failed(0));
    }

    @Test
    @DisplayName("gives a test, and what runs before and after it, one store, and closes it")
    void oneForEach() {
        OneForEach.SEEN.clear();
        passes(OneForEach.class, 2);
        assertThat(OneForEach.SEEN)
                .hasSize(2)
                .allSatisfy(client -> Assertions.assertThatThrownBy(
                                () -> client.lock("x").tryAcquire())
                        .isInstanceOf(ClientClosedException.class));
    }

    @ExtendWith(HoldfastExtension.class)
    static class OneForEach {
        static final Set<Holdfast> SEEN = ConcurrentHashMap.newKeySet();

        private Holdfast before;

        @BeforeEach
        void keep(Holdfast client, TestStore store) {
            assertThat(store.client()).isSameAs(client);
            before = client;
        }

        @RepeatedTest(2)
        void isTheSame(Holdfast client) throws InterruptedException {
            assertThat(client).isSameAs(before);
            var unused = client.lock("report").acquire();
            SEEN.add(client);
        }

        @AfterEach
        void stillOpen(TestStore store) {
            store.assertHeld("report");
        }
    }

    @Test
    @DisplayName("keeps tests apart that run at the same time")
    void parallel() {
        passes(Parallel.class, 2);
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ExtendWith(HoldfastExtension.class)
    static class Parallel {
        private static final CyclicBarrier BOTH = new CyclicBarrier(2);

        @Test
        void one(Holdfast client, TestStore store) throws Exception {
            holdsAlone(client, store);
        }

        @Test
        void other(Holdfast client, TestStore store) throws Exception {
            holdsAlone(client, store);
        }

        private static void holdsAlone(Holdfast client, TestStore store) throws Exception {
            Hold hold = client.lock("report").tryAcquire().orElseThrow();
            BOTH.await(60, TimeUnit.SECONDS);
            store.advance(Duration.ofHours(1));
            assertThat(hold.isHeld()).isTrue();
            BOTH.await(60, TimeUnit.SECONDS);
            hold.close();
        }
    }

    @Test
    @DisplayName("sets clients up")
    void registered() {
        passes(Registered.class, 1);
    }

    static class Registered {
        @RegisterExtension
        final HoldfastExtension holdfast = HoldfastExtension.with(builder -> builder.sessionTtl(Duration.ofMinutes(7)));

        @Test
        void hasTheTtl(Holdfast client) throws InterruptedException {
            try (Hold hold = client.lock("report").acquire()) {
                assertThat(hold.effectiveLease()).isEqualTo(Duration.ofMinutes(7));
            }
        }
    }

    @Test
    @DisplayName("says why a constructor can't have a store")
    void refusesConstructors() {
        run(InConstructor.class)
                .testEvents()
                .assertThatEvents()
                .haveAtLeastOne(
                        finishedWithFailure(message(text -> text.contains("declare it on a @BeforeEach method"))));
    }

    @ExtendWith(HoldfastExtension.class)
    static class InConstructor {
        InConstructor(TestStore store) {}

        @Test
        void never() {}
    }
}
