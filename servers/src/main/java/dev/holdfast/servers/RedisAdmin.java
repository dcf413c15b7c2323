package dev.holdfast.servers;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A connection for commands without a typed interface; opened on first use, and again after it broke. */
final class RedisAdmin implements AutoCloseable {

    /** Half of the usual wait for a server, so that there is time for a second attempt. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final RedisClient client;
    private @Nullable StatefulRedisConnection<String, String> connection;

    RedisAdmin(int port, @Nullable String password) {
        RedisURI.Builder uri =
                RedisURI.builder().withHost("127.0.0.1").withPort(port).withTimeout(PATIENCE);
        if (password != null) {
            uri.withPassword(password.toCharArray());
        }
        client = RedisClient.create(uri.build());
        client.setOptions(ClientOptions.builder().autoReconnect(false).build());
    }

    synchronized List<Object> command(String... words) {
        CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8);
        for (int i = 1; i < words.length; i++) {
            arguments.add(words[i]);
        }
        StatefulRedisConnection<String, String> open = connection == null ? client.connect() : connection;
        connection = open;
        try {
            return open.sync().dispatch(new Word(words[0]), new NestedMultiOutput<>(StringCodec.UTF8), arguments);
        } catch (RedisException e) {
            if (!(e instanceof RedisCommandExecutionException)) {
                connection = null; // it may not have noticed yet that it is broken
                open.close();
            }
            throw e;
        }
    }

    @Override
    public synchronized void close() {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }

    /** Older drivers ask for its name, too. */
    @SuppressWarnings("deprecation")
    private record Word(String name) implements ProtocolKeyword {
        @Override
        public byte[] getBytes() {
            return name.getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
