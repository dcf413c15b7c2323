package dev.holdfast.store.quorum;

import dev.holdfast.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Starts three real Redis servers for each test, and closes them after what the test has opened on them. */
abstract class QuorumOfServers {

    final List<RedisServer> servers = new ArrayList<>();

    /** Closed after the test, the last first. */
    final List<AutoCloseable> toClose = new ArrayList<>();

    @BeforeEach
    void startServers() {
        for (int i = 0; i < 3; i++) {
            servers.add(RedisServer.start());
        }
    }

    @AfterEach
    void closeAll() throws Exception {
        for (int i = toClose.size() - 1; i >= 0; i--) {
            toClose.get(i).close();
        }
        servers.forEach(RedisServer::close);
    }
}
