package dev.holdfast.store.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.servers.NeedsEtcd;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.etcd.rpc.Channels.Endpoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("server")
@NeedsEtcd
class EtcdStoreProviderTest {

    @Test
    void placesAreRead() {
        assertThat(Endpoints.read(List.of("localhost", "10.0.0.1:7000", "[::1]", "[fe80::1%eth0]:1")))
                .containsExactly(
                        new Endpoint("localhost", 2379),
                        new Endpoint("10.0.0.1", 7000),
                        new Endpoint("::1", 2379),
                        new Endpoint("fe80::1%eth0", 1));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "etcd:localhost",
                "etcd://",
                "etcd://:2379",
                "etcd://a,,b",
                "etcd://a:b:c",
                "etcd://host:0",
                "etcd://host:65536",
                "etcd://host:x",
                "etcd://ho st",
                "etcd://host/a{b",
                "etcd://user@host",
                "etcd://:canary@host",
                "etcd://us%zzer:canary@host",
                "etcd://user:canary@host?passwordFile=x",
                "etcd://host?passwordFile=x",
                "etcd://host?unknown=1",
                "etcd://host?timeout=5",
                "etcd://host?timeout=PT0S",
                "etcd://host?ca=/etc/hosts",
                "etcds://host?ca=/no/such/file",
                "etcds://host?clientKey=/etc/hosts",
                "etcds://host?ca=/etc/hosts",
            })
    void whatIsNotOfTheFormIsRefusedWithoutSecrets(String uri) {
        Throwable thrown =
                catchThrowable(() -> EtcdUris.builder(StoreUri.parse(uri)).open());
        assertThat(thrown).isInstanceOf(IllegalArgumentException.class);
        for (Throwable t = thrown; t != null; t = t.getCause()) {
            assertThat(t.toString()).doesNotContain("canary");
        }
    }

    @Test
    @Tag("smoke")
    void isFoundByItsScheme() throws Exception {
        StoreUri uri =
                StoreUri.parse("etcd://127.0.0.1:1," + EtcdUnderTest.server().endpoint() + "/found?timeout=PT30S");
        try (LockStore store = StoreProvider.of(uri).open(uri)) {
            assertThat(store.traits().product()).startsWith("etcd 3.");
        }
    }

    @Test
    void whereNobodyListensIsTold() {
        assertThatThrownBy(() -> EtcdStore.builder("127.0.0.1:1", "127.0.0.1:2").open())
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE))
                .hasMessageContainingAll("etcd at 127.0.0.1:1,127.0.0.1:2", "can't be reached");
    }

    @Test
    void passwordFileIsReadWithoutItsLineEnd(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("password");
        Files.writeString(file, "p@ss word \r\n");
        assertThat(new PasswordFile(file).get()).isEqualTo("p@ss word ".toCharArray());
        assertThatThrownBy(() -> new PasswordFile(directory.resolve("missing")).get())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("missing");
    }
}
