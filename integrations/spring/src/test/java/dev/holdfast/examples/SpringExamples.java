package dev.holdfast.examples;

import static java.time.Duration.ofSeconds;

import dev.holdfast.Holdfast;
import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.EnableHoldfast;
import dev.holdfast.spring.LockTemplate;
import dev.holdfast.spring.Locked;
import dev.holdfast.spring.LockedDefaults;
import dev.holdfast.spring.ScheduledLock;
import dev.holdfast.spring.TimeoutReaction;
import dev.holdfast.spring.leader.LeaderCampaign;
import dev.holdfast.spring.leader.LeadershipGrantedEvent;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.AliasFor;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The code of the page on Spring, compiled. */
@SuppressWarnings("unused")
final class SpringExamples {

    @Configuration
    @EnableHoldfast
    static class LockConfiguration {

        @Bean
        Holdfast holdfast(@Value("${locks.store}") String store) {
            return Holdfast.connect(store);
        }
    }

    @Service
    static class Accounts {

        private final Ledger ledger;

        Accounts(Ledger ledger) {
            this.ledger = ledger;
        }

        @Locked(name = "account", key = "#transfer.from", maxWait = "5s")
        @Transactional
        public void withdraw(Transfer transfer) {
            ledger.append(transfer, CurrentLocks.fencingToken());
        }

        @Locked(name = "account", key = "{#transfer.from, #transfer.to}")
        @Transactional
        public void move(Transfer transfer) {
            ledger.append(transfer, CurrentLocks.fencingToken("account/" + transfer.from()));
        }
    }

    static class Reports {

        @Scheduled(cron = "0 0 3 * * *")
        @ScheduledLock(name = "nightly-report", atMost = "1h", atLeast = "5m")
        public void report() {
            write();
        }

        private void write() {}
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @Locked(name = "account", maxWait = "0s", onTimeout = TimeoutReaction.SKIP)
    @interface IfAccountIsFree {

        @AliasFor(annotation = Locked.class, attribute = "key")
        String value();
    }

    @Configuration
    static class More {

        @Bean
        LockedDefaults lockedDefaults() {
            return LockedDefaults.standard().withMaxWait(Duration.ofSeconds(3));
        }

        @Bean
        LeaderCampaign importer(Holdfast holdfast) {
            return new LeaderCampaign(holdfast, "importer");
        }
    }

    static class Importer {

        private final LeaderCampaign importer;

        Importer(LeaderCampaign importer) {
            this.importer = importer;
        }

        @EventListener(condition = "#granted.election == 'importer'")
        void lead(LeadershipGrantedEvent granted) {
            while (importer.isLeader()) {
                step(granted.leadership().term());
            }
        }

        private void step(long term) {}
    }

    static class ByHand {

        private final LockTemplate locks;
        private final Ledger ledger;

        ByHand(Holdfast holdfast, Ledger ledger) {
            this.locks = new LockTemplate(holdfast).withMaxWait(ofSeconds(5));
            this.ledger = ledger;
        }

        void withdraw(Transfer transfer) throws InterruptedException {
            locks.run("account/" + transfer.from(), () -> ledger.append(transfer, CurrentLocks.fencingToken()));
        }
    }

    /** What the examples are about. */
    record Transfer(String from, String to) {}

    /** Where they write. */
    interface Ledger {
        void append(Transfer transfer, long fencingToken);
    }
}
