package dev.holdfast.store.zookeeper;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.StoreUri;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ZooKeeperUrisTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "zookeeper://localhost",
                "zookeeper://zk1:2181,zk2:2181,zk3/shop/locks?root=/a/b",
                "zookeeper://[::1]:2181,10.0.0.1:2181/",
                "zookeeper://user:p%40ss@zk1?acl=creator&sessionTimeout=PT10S&tickTime=PT3S",
                "zookeeper://zk1:2281?connectTimeout=PT1S&requestTimeout=PT2S",
                "zookeepers://user:p%40ss@zk1:2281,zk2:2281/shop?root=/a/b"
            })
    void takes(String uri) {
        assertThatCode(() -> ZooKeeperUris.builder(StoreUri.parse(uri))).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "zookeeper:zk1",
                "zookeeper://",
                "zookeeper://zk1:2181,",
                "zookeeper://zk1:port",
                "zookeeper://::1:2181",
                "zookeeper://user@zk1",
                "zookeeper://@zk1",
                "zookeeper://:password@zk1",
                "zookeeper://zk1/a//b",
                "zookeeper://zk1/a/",
                "zookeeper://zk1?root=a",
                "zookeeper://zk1?root=/",
                "zookeeper://zk1?acl=all",
                "zookeeper://zk1?ca=/etc/ca.pem",
                "zookeepers://zk1?ca=/no/such/file.pem",
                "zookeepers://zk1?clientCertificate=/no/such/file.pem",
                "zookeepers://zk1?clientKey=/no/such/file.pem",
                "zookeeper://zk1?sessionTimeout=10",
                "zookeeper://zk1?sessionTimeout=PT0S",
                "zookeeper://zk1?tickTime=PT0S",
                "zookeeper://zk1?tickTime=2",
                "zookeeper://zk1?timeout=PT1S"
            })
    void refuses(String uri) {
        assertThatThrownBy(() -> ZooKeeperUris.builder(StoreUri.parse(uri)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void doesNotTellThePassword() {
        assertThatThrownBy(() -> ZooKeeperUris.builder(StoreUri.parse("zookeeper://user:geheim@zk1:x")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("zk1")
                .hasMessageNotContaining("geheim");
        assertThatThrownBy(() -> ZooKeeperUris.builder(StoreUri.parse("zookeeper://user:geh%zzeim@zk1")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("eim@");
    }
}
