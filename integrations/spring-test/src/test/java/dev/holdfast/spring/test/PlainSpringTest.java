package dev.holdfast.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.EnableHoldfast;
import dev.holdfast.spring.Locked;
import dev.holdfast.test.TestStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

@DisplayName("An application on Spring alone, with a store that is not there")
@SpringJUnitConfig
@EmbeddedHoldfast(sessionTtl = "9s", storeTimeout = "PT4S")
class PlainSpringTest {

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    static class Application {

        @Bean
        Holdfast locks() {
            throw new AssertionError("connects to a server");
        }

        @Bean
        Accounts accounts(Holdfast locks) {
            return new Accounts(locks);
        }

        @Bean
        HoldfastListener names() {
            return request -> {
                NAMES.add(request.name());
                return null;
            };
        }
    }

    static class Accounts {
        final Holdfast client;

        Accounts(Holdfast client) {
            this.client = client;
        }

        @Locked(name = "account", client = "locks")
        public void withdraw(Runnable work) {
            CurrentLocks.ensureHeld("account");
            work.run();
        }
    }

    static final List<String> NAMES = new CopyOnWriteArrayList<>();

    @Autowired
    TestStore store;

    @Autowired
    Accounts accounts;

    @BeforeEach
    void begin(Holdfast client) {
        NAMES.clear();
        assertThat(client).isSameAs(store.client());
    }

    @Test
    @DisplayName("holds its locks in the test's store, and its listeners are told")
    void locks() {
        accounts.withdraw(() -> store.assertHeld("account"));
        store.assertNothingHeld();
        assertThat(NAMES).containsExactly("account");
    }

    @Test
    @DisplayName("loses a lock after the ttl that the test sets")
    void loses() {
        accounts.withdraw(() -> store.pause(Duration.ofSeconds(5)));
        assertThatThrownBy(() -> accounts.withdraw(() -> store.pause(Duration.ofSeconds(10))))
                .isInstanceOf(LockLostException.class);
        assertThatThrownBy(() -> accounts.withdraw(() -> store.loseLock("account")))
                .isInstanceOf(LockLostException.class);
    }

    @Test
    @DisplayName("finds a lock taken")
    void isTaken() {
        Hold other = store.take("account");
        assertThatThrownBy(() -> store.runWhileTimePasses(() -> accounts.withdraw(() -> {})))
                .isInstanceOf(LockWaitTimeoutException.class)
                .hasMessageContaining("elsewhere");
        assertThat(other.isHeld()).isTrue();
    }

    @Test
    @DisplayName("finds the store silent, for the time-out that the test sets")
    void isSilent() {
        store.goSilent();
        store.after(Duration.ofSeconds(8), store::recover); // too late for this, but not for 10 s
        assertThatThrownBy(() -> store.runWhileTimePasses(() -> accounts.withdraw(() -> {})))
                .isInstanceOf(StoreUnavailableException.class);
    }
}
