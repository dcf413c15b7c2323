package dev.holdfast.examples;

import dev.holdfast.Holdfast;
import dev.holdfast.spring.integration.HoldfastLeaderInitiator;
import dev.holdfast.spring.integration.HoldfastLockRegistry;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/** The code of the page on Spring Integration, compiled. */
final class SpringIntegrationExamples {

    @Bean
    LockRegistry<DistributedLock> lockRegistry(Holdfast holdfast) {
        return new HoldfastLockRegistry(holdfast);
    }

    @Bean
    HoldfastLeaderInitiator leaderInitiator(Holdfast holdfast) {
        return new HoldfastLeaderInitiator(holdfast, new DefaultCandidate("node-1", "scheduler"));
    }

    void use(LockRegistry<DistributedLock> registry) throws InterruptedException {
        registry.executeLocked("order/7", () -> ship());

        DistributedLock lock = registry.obtain("order/7"); // org.springframework.integration.support.locks
        if (lock.tryLock(Duration.ofSeconds(5), Duration.ofMinutes(1))) { // not renewed: a minute and no more
            try {
                ship();
            } finally {
                unlock(lock);
            }
        }
    }

    private static void unlock(DistributedLock lock) {
        try {
            lock.unlock();
        } catch (ConcurrentModificationException e) {
            alarm(e); // it was lost before: others may have been in between
        }
    }

    private static void ship() {}

    private static void alarm(Exception e) {
        throw new IllegalStateException(e);
    }
}
