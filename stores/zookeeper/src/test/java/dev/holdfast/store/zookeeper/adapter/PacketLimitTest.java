package dev.holdfast.store.zookeeper.adapter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.zookeeper.client.ZooKeeperFailures;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

class PacketLimitTest {

    private static final int SIZE = 300_000;

    private final StoreException loss = ZooKeeperFailures.of(Code.CONNECTIONLOSS);
    private long now = 1;
    private final PacketLimit limit = new PacketLimit(1_000_000, () -> now);

    private void expectSent(int size) {
        assertThat(limit.refusal(size)).isEmpty();
    }

    private void expectRefused(int size) {
        assertThat(limit.refusal(size)).hasValueSatisfying(failure -> {
            assertThat(failure.reason()).isEqualTo(Reason.DENIED);
            assertThat(failure.effect()).isEqualTo(Effect.NONE);
            assertThat(failure).hasMessageContaining("jute.maxbuffer");
        });
    }

    private void expectLost(int size) {
        long sentAt = now;
        now++;
        limit.failed(size, sentAt, loss);
        now++;
    }

    @Test
    void refusesWhatTheClientMayNotSend() {
        expectSent(1_000_000);
        expectRefused(1_000_001);
    }

    @Test
    void refusesAsMuchAsWasLostTwiceAndNoLess() {
        expectLost(SIZE + 10);
        expectSent(SIZE);
        expectLost(SIZE);
        expectRefused(SIZE);
        expectRefused(SIZE + 10);
        expectSent(SIZE - 1);
    }

    @Test
    void countsWhatWasLostWithOneConnectionOnce() {
        long sentAt = now++;
        limit.failed(SIZE, sentAt, loss);
        limit.failed(SIZE + 10, sentAt, loss);
        now++;
        expectSent(SIZE);
        expectLost(SIZE + 20);
        expectSent(SIZE);
        expectRefused(SIZE + 10);
    }

    @Test
    void believesWhatServersHaveTaken() {
        limit.acknowledged(SIZE);
        expectLost(SIZE);
        expectLost(SIZE);
        expectSent(SIZE);
        expectLost(SIZE + 1);
        expectLost(SIZE + 1);
        expectRefused(SIZE + 1);
    }

    @Test
    void triesAgainLaterAndForgetsWhenItIsTaken() {
        expectLost(SIZE);
        expectLost(SIZE);
        expectRefused(SIZE);
        now += TimeUnit.MINUTES.toNanos(1);
        expectSent(SIZE);
        limit.acknowledged(SIZE);
        expectLost(SIZE + 1);
        expectSent(SIZE + 1);
    }

    @Test
    void smallWritesAreLostForOtherReasons() {
        expectLost(16_000);
        expectLost(16_000);
        expectSent(16_000);
    }

    @Test
    void otherFailuresSayNothingOfTheSize() {
        limit.failed(SIZE, now++, ZooKeeperFailures.of(Code.OPERATIONTIMEOUT));
        limit.failed(SIZE, now++, ZooKeeperFailures.of(Code.SESSIONEXPIRED));
        expectSent(SIZE);
    }
}
