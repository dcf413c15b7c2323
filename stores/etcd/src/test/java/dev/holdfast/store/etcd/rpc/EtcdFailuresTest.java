package dev.holdfast.store.etcd.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import io.grpc.Status;
import java.io.IOException;
import java.net.ConnectException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EtcdFailuresTest {

    private static StoreException failure(String words) {
        return EtcdFailures.of(new CallFailure(Status.UNAVAILABLE.withDescription(words), true), "etcd");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "etcdserver: no leader",
                "etcdserver: too many requests",
                "etcdserver: not capable",
                "etcdserver: rpc not supported for learner"
            })
    void requestThatWasRefusedAtTheDoorHadNoEffect(String words) {
        assertThat(failure(words).effect()).isEqualTo(Effect.NONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"connection reset by learner-1.etcd", "upstream said: etcdserver: no leader", "no answer"})
    void wordsOfOthersSayNothingAboutTheEffect(String words) {
        assertThat(failure(words).effect()).isEqualTo(Effect.UNKNOWN);
    }

    @Test
    void resetConnectionWasClosedWithoutAnAnswer() {
        Status status = Status.UNAVAILABLE.withDescription("io exception");
        StoreException reset =
                EtcdFailures.of(new CallFailure(status.withCause(new IOException("Connection reset")), false), "etcd");
        StoreException refused =
                EtcdFailures.of(new CallFailure(status.withCause(new ConnectException("refused")), false), "etcd");
        assertThat(EtcdFailures.isClosedWithoutAnswer(reset)).isTrue();
        assertThat(EtcdFailures.isClosedWithoutAnswer(refused)).isFalse();
    }
}
