package dev.holdfast.store.redis;

import dev.holdfast.servers.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A server for the tests of a store, with the store on it. */
final class TestServer implements AutoCloseable {

    private static final class Shared {
        private static final TestServer SERVER = start();
    }

    private final RedisServer server;

    private TestServer(RedisServer server) {
        this.server = server;
    }

    /** One server for all tests in this JVM without special needs; each uses its own namespace. */
    static TestServer shared() {
        return Shared.SERVER;
    }

    /** A new server, with directives of its configuration and their values. */
    static TestServer start(String... options) {
        RedisServer.Builder builder = RedisServer.builder();
        for (int i = 0; i < options.length; i += 2) {
            builder.option(options[i], options[i + 1]);
        }
        return new TestServer(builder.start());
    }

    static TestServer withPassword(String password) {
        return new TestServer(RedisServer.builder().password(password).start());
    }

    RedisServer server() {
        return server;
    }

    int port() {
        return server.port();
    }

    /** Without a password. */
    RedisURI uri() {
        return RedisURI.create("127.0.0.1", server.port());
    }

    /** A store on this server, in the namespace that is used if none is asked for. */
    RedisStore open() {
        return builder().open();
    }

    RedisStore.Builder builder() {
        return patient(RedisStore.builder(uri()));
    }

    /** With the threads of all tests, and with time for a machine that is busy with something else. */
    static RedisStore.Builder patient(RedisStore.Builder builder) {
        return builder.resources(RedisUnderTest.RESOURCES)
                .commandTimeout(Duration.ofSeconds(30))
                .connectTimeout(Duration.ofMinutes(1));
    }

    /** Does something to the server by hand. */
    void with(Consumer<RedisCommands<String, String>> work) {
        RedisClient client = RedisClient.create(RedisUnderTest.RESOURCES, uri());
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            work.accept(connection.sync());
        } finally {
            client.shutdown(0, 1, TimeUnit.SECONDS);
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
