package dev.holdfast.store.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.NeedsEtcd;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Transactions of the program's that are conditional on a hold. */
@Tag("server")
@NeedsEtcd
class EtcdFenceTest {

    private final EtcdServer server = EtcdUnderTest.server();

    private Holdfast client() {
        return Holdfast.builder("etcd://" + server.endpoint() + "/fenced?timeout=PT30S&connectTimeout=PT1M")
                .sessionTtl(Duration.ofMinutes(5))
                .build();
    }

    @Test
    void holderWritesAndOneThatLostItsLockDoesNot() throws Exception {
        try (Holdfast one = client();
                Holdfast two = client()) {
            Hold stale = one.lock("ledger / \u00e4").acquire();
            EtcdFence fence = EtcdFence.of(stale, "fenced");
            assertThat(write(fence, "by one")).isTrue();
            CompletableFuture<Hold> waiting =
                    two.lock("ledger / \u00e4").acquireAsync().toCompletableFuture();
            assertThat(two.forceRelease("ledger / \u00e4", stale.fencingToken()))
                    .isTrue();
            Hold next = waiting.get(1, TimeUnit.MINUTES);
            assertThat(write(fence, "late")).isFalse();
            assertThat(write(EtcdFence.of(next, "fenced"), "by two")).isTrue();
            next.close();
            assertThat(write(EtcdFence.of("ledger / \u00e4", next.holdId(), "fenced"), "after the end"))
                    .isFalse();
            assertThat(write(fence, "later")).isFalse();
        }
    }

    /** Whether the transaction did it. */
    private boolean write(EtcdFence fence, String what) {
        String answer = server.call(
                "/v3/kv/txn",
                "{\"compare\": [{\"target\": \"VALUE\", \"result\": \"EQUAL\", \"key\": \"" + encoded(fence.key())
                        + "\", \"value\": \"" + encoded(fence.value())
                        + "\"}], \"success\": [{\"request_put\": {\"key\": \""
                        + encoded("report".getBytes(StandardCharsets.UTF_8)) + "\", \"value\": \""
                        + encoded(what.getBytes(StandardCharsets.UTF_8)) + "\"}}]}");
        return answer.replace(" ", "").contains("\"succeeded\":true");
    }

    private static String encoded(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    @Test
    void holdOfAnotherStoreIsRefused() throws Exception {
        try (Holdfast memory = Holdfast.connect("memory:");
                Hold hold = memory.lock("ledger").acquire()) {
            assertThatThrownBy(() -> EtcdFence.of(hold, "fenced"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'ledger'");
        }
    }
}
