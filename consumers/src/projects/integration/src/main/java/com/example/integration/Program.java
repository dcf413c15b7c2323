package com.example.integration;

import dev.holdfast.Holdfast;
import dev.holdfast.spring.integration.HoldfastLeaderInitiator;
import dev.holdfast.spring.integration.HoldfastLockRegistry;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;

/** Uses the lock registry and leads. */
public final class Program {

    public static void main(String... arguments) throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            int seven = new HoldfastLockRegistry(holdfast).executeLocked("report", () -> 7);
            CountDownLatch leads = new CountDownLatch(1);
            HoldfastLeaderInitiator initiator =
                    new HoldfastLeaderInitiator(holdfast, new DefaultCandidate("here", "scheduler") {
                        @Override
                        public void onGranted(Context context) {
                            leads.countDown();
                        }
                    });
            initiator.start();
            if (seven != 7 || !leads.await(1, TimeUnit.MINUTES)) {
                throw new AssertionError("should have led");
            }
            initiator.stop();
        }
    }
}
