package com.example.springtest;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.EnableHoldfast;
import dev.holdfast.spring.Locked;
import dev.holdfast.spring.test.EmbeddedHoldfast;
import dev.holdfast.test.TestStore;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

@SpringJUnitConfig
@EmbeddedHoldfast
class ReportTest {

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    static class Application {

        @Bean
        Holdfast holdfast() {
            return Holdfast.connect("redis://there.is.no.such.host.invalid");
        }

        @Bean
        Reports reports() {
            return new Reports();
        }
    }

    /** What is locked. */
    public static class Reports {

        /** Answers the token of the lock. */
        @Locked(name = "report", maxWait = "0s")
        public long write() {
            return CurrentLocks.fencingToken("report");
        }
    }

    @Autowired
    Reports reports;

    @Test
    void isFree(TestStore store) {
        Assertions.assertTrue(reports.write() > 0);
        store.assertNothingHeld();
    }

    @Test
    void isTaken(TestStore store) {
        try (Hold other = store.take("report")) {
            Assertions.assertThrows(RuntimeException.class, reports::write);
            Assertions.assertTrue(other.isHeld());
        }
    }
}
