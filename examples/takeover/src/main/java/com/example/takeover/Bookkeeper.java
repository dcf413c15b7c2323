package com.example.takeover;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.sql.rows.StaleTokenException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Takes its turn at the ledger whenever no other instance has it. */
@Component
class Bookkeeper {

    private static final Logger log = LoggerFactory.getLogger(Bookkeeper.class);

    private final DistributedLock lock;
    private final Ledger ledger;
    private final String name;
    private final Duration work;

    Bookkeeper(
            Holdfast holdfast,
            Ledger ledger,
            @Value("${takeover.name}") String name,
            @Value("${takeover.work}") Duration work) {
        this.lock = holdfast.lock("ledger");
        this.ledger = ledger;
        this.name = name;
        this.work = work;
    }

    @Scheduled(fixedDelayString = "${takeover.pause}")
    void takeTurn() throws InterruptedException {
        try (Hold hold = lock.acquire()) {
            long token = hold.fencingToken();
            hold.onLost(loss -> log.info(
                    "{} lost the lock with token {}: {}",
                    name,
                    token,
                    loss.cause().words()));
            log.info("{} has the lock with token {}", name, token);
            // A long computation. It may outlive the lease if the process is stopped meanwhile, and does not look.
            Thread.sleep(work.toMillis());
            log.info("{} writes with token {}", name, token);
            ledger.append(name, token, hold.holdId());
            log.info("{} has written with token {}", name, token);
        } catch (StaleTokenException e) {
            log.info("{} was refused with token {}, for {} has written", name, e.token(), e.newest());
        } catch (LockLostException e) {
            log.info("{} gave the lock back too late", name);
        }
    }
}
