package com.example.leader;

import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.NeedsEtcd;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Processes that elect a leader on etcd")
@Tag("server")
@Tag("process")
@NeedsEtcd
class EtcdLeaderTest {

    @Test
    @DisplayName("elect the next when it is killed and when it ends, in terms that rise")
    void failOver() {
        try (EtcdServer etcd = EtcdServer.start()) {
            FailOver.plays("etcd://" + etcd.endpoint());
        }
    }
}
