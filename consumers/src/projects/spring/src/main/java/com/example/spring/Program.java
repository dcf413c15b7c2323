package com.example.spring;

import dev.holdfast.Holdfast;
import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.EnableHoldfast;
import dev.holdfast.spring.Locked;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Runs a method of a bean under a lock whose key is an argument. */
public final class Program {

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    static class Application {

        @Bean
        Holdfast holdfast() {
            return Holdfast.connect("memory:");
        }

        @Bean
        Accounts accounts() {
            return new Accounts();
        }
    }

    /** What is locked. */
    public static class Accounts {

        /** Answers the token of the lock. */
        @Locked(name = "account", key = "#p0.id")
        public long withdraw(Account from) {
            CurrentLocks.ensureHeld("account/" + from.id());
            return CurrentLocks.fencingToken();
        }
    }

    /** Whose lock it is. */
    public record Account(String id) {}

    public static void main(String... arguments) {
        try (var context = new AnnotationConfigApplicationContext(Application.class)) {
            System.out.println(
                    "held with token " + context.getBean(Accounts.class).withdraw(new Account("7")));
        }
    }
}
