package com.example.takeover;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;

/** A service of which several instances keep one ledger, and take turns at it. */
@SpringBootApplication
@EnableScheduling
public class TakeoverApplication {

    public static void main(String... arguments) {
        SpringApplication.run(TakeoverApplication.class, arguments);
    }
}
