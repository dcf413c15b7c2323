package dev.holdfast.store.zookeeper.adapter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.zookeeper.client.Failures;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

class PacketLimitTest {

    private static final int SIZE = 300_000;

    private final StoreException loss = Failures.of(Code.CONNECTIONLOSS);
    private long now = 1;
    private final PacketLimit limit = new PacketLimit(1_000_000, () -> now);

    private void isSent(int size) {
        assertThat(limit.refusal(size)).isEmpty();
    }

    private void isRefused(int size) {
        assertThat(limit.refusal(size)).hasValueSatisfying(failure -> {
            assertThat(failure.reason()).isEqualTo(Reason.DENIED);
            assertThat(failure.effect()).isEqualTo(Effect.NONE);
            assertThat(failure).hasMessageContaining("jute.maxbuffer");
        });
    }

    private void isLost(int size) {
        long sentAt = now;
        now++;
        limit.failed(size, sentAt, loss);
        now++;
    }

    @Test
    void refusesWhatTheClientMayNotSend() {
        isSent(1_000_000);
        isRefused(1_000_001);
    }

    @Test
    void refusesAsMuchAsWasLostTwiceAndNoLess() {
        isLost(SIZE + 10);
        isSent(SIZE);
        isLost(SIZE);
        isRefused(SIZE);
        isRefused(SIZE + 10);
        isSent(SIZE - 1);
    }

    @Test
    void countsWhatWasLostWithOneConnectionOnce() {
        long sentAt = now++;
        limit.failed(SIZE, sentAt, loss);
        limit.failed(SIZE + 10, sentAt, loss);
        now++;
        isSent(SIZE);
        isLost(SIZE + 20);
        isSent(SIZE);
        isRefused(SIZE + 10);
    }

    @Test
    void believesWhatServersHaveTaken() {
        limit.acknowledged(SIZE);
        isLost(SIZE);
        isLost(SIZE);
        isSent(SIZE);
        isLost(SIZE + 1);
        isLost(SIZE + 1);
        isRefused(SIZE + 1);
    }

    @Test
    void triesAgainLaterAndForgetsWhenItIsTaken() {
        isLost(SIZE);
        isLost(SIZE);
        isRefused(SIZE);
        now += TimeUnit.MINUTES.toNanos(1);
        isSent(SIZE);
        limit.acknowledged(SIZE);
        isLost(SIZE + 1);
        isSent(SIZE + 1);
    }

    @Test
    void smallWritesAreLostForOtherReasons() {
        isLost(16_000);
        isLost(16_000);
        isSent(16_000);
    }

    @Test
    void otherFailuresSayNothingOfTheSize() {
        limit.failed(SIZE, now++, Failures.of(Code.OPERATIONTIMEOUT));
        limit.failed(SIZE, now++, Failures.of(Code.SESSIONEXPIRED));
        isSent(SIZE);
    }
}
