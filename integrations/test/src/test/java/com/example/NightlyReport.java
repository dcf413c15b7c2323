package com.example;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockWaitTimeoutException;
import java.time.Duration;

public class NightlyReport {

    public static void main(String[] args) throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect("sqlite:")) {
            new NightlyReport().run(holdfast, Duration.ofSeconds(10));
        }
    }

    boolean run(Holdfast holdfast, Duration maxWait) throws InterruptedException {
        try (Hold hold = holdfast.lock("nightly-report").acquire(maxWait)) {
            System.out.println("Writing the report, token " + hold.fencingToken());
            Thread.sleep(2_000); // your work
            hold.ensureHeld(); // throws if the lock was lost
            System.out.println("Done.");
            return true;
        } catch (LockWaitTimeoutException e) {
            System.out.println(e.getMessage());
            return false;
        }
    }
}
