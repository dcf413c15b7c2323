package com.example.boot;

import dev.holdfast.Holdfast;
import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.Locked;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Runs a method of a bean under a lock; nothing is configured but where the store is. */
public final class Program {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Reports reports() {
            return new Reports();
        }
    }

    /** What is locked. */
    public static class Reports {

        /** Answers the token of the lock. */
        @Locked("nightly-report")
        public long write() {
            CurrentLocks.ensureHeld("nightly-report");
            return CurrentLocks.fencingToken();
        }
    }

    public static void main(String... arguments) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setDefaultProperties(Map.of("holdfast.store", "memory:", "holdfast.label", "of a property"));
        try (var context = application.run(arguments)) {
            String client = context.getBean(Holdfast.class).toString();
            if (!client.contains("of a property")) {
                throw new AssertionError(client + " should have the label of the property");
            }
            System.out.println(
                    "held with token " + context.getBean(Reports.class).write());
        }
    }
}
