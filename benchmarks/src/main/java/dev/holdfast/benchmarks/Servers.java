package dev.holdfast.benchmarks;

import dev.holdfast.servers.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The real servers of a run. Each is started when a cell first needs it, and all cells share it. Not thread-safe. */
final class Servers implements AutoCloseable {

    /** A kind of server. */
    enum Kind {
        REDIS
    }

    private @Nullable RedisServer redis;

    /** Empties the server of a kind, and leaves its address in a place, for the cell that runs there. */
    void lend(Kind kind, Path place) {
        String address = switch (kind) {
            case REDIS -> {
                RedisServer server = redis == null ? RedisServer.start() : redis;
                redis = server;
                server.command("FLUSHALL");
                yield server.uri();
            }
        };
        try {
            Files.writeString(place.resolve(kind.name()), address);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The address that was left in a place. */
    static String address(Kind kind, Path place) {
        try {
            return Files.readString(place.resolve(kind.name()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What ran, by name, with its version. */
    Map<String, String> versions() {
        Map<String, String> versions = new TreeMap<>();
        RedisServer server = redis;
        if (server != null) {
            versions.put("Redis", server.info("redis_version") + ", on this machine, nothing is written to the disk");
        }
        return versions;
    }

    @Override
    public void close() {
        RedisServer server = redis;
        redis = null;
        if (server != null) {
            server.close();
        }
    }
}
