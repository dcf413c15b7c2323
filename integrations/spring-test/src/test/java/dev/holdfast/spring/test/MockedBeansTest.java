package dev.holdfast.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.EnableHoldfast;
import dev.holdfast.spring.Locked;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.bean.override.convention.TestBean;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

@SpringJUnitConfig
@EmbeddedHoldfast
@DisplayName("A test that replaces beans with locked methods")
class MockedBeansTest {

    @MockitoBean
    private Ledger mocked;

    @MockitoSpyBean
    private Journal spied;

    @TestBean
    private Archive replaced;

    private static Archive replaced() {
        return new Archive();
    }

    static class Ledger {
        @Locked("ledger")
        List<String> append() {
            return CurrentLocks.names();
        }
    }

    static class Journal {
        @Locked("journal")
        List<String> append() {
            return CurrentLocks.names();
        }
    }

    static class Archive {
        @Locked("archive")
        List<String> append() {
            return CurrentLocks.names();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    static class Application {
        @Bean
        Ledger ledger() {
            return new Ledger();
        }

        @Bean
        Journal journal() {
            return new Journal();
        }

        @Bean
        Archive archive() {
            return new Archive();
        }
    }

    @Test
    @DisplayName("gets its own, and the locks of those that it spies on")
    void overrides(@Autowired Ledger ledger, @Autowired Journal journal) {
        when(mocked.append()).thenReturn(List.of("mocked"));
        assertThat(ledger.append()).containsExactly("mocked");
        assertThat(journal.append()).containsExactly("journal");
        verify(spied).append();
        assertThat(replaced.append()).isEmpty();
    }
}
