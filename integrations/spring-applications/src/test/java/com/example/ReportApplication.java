package com.example;

import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.Locked;
import dev.holdfast.spring.ScheduledLock;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

@SpringBootApplication
@EnableScheduling
public class ReportApplication {

    public static void main(String[] args) {
        SpringApplication.run(ReportApplication.class, args);
    }

    @Component
    public static class Reports {

        /** One instance runs it; the others skip it. */
        @Scheduled(cron = "0 0 3 * * *")
        @ScheduledLock(name = "nightly-report", atMost = "1h", atLeast = "5m")
        public void writeAll() {
            System.out.println("Writing all reports");
        }

        /** Waits up to five seconds for other calls with the same id, in any instance. */
        @Locked(name = "report", key = "#id", maxWait = "5s")
        public long write(String id) {
            return CurrentLocks.fencingToken(); // send it to what you write to
        }
    }
}
