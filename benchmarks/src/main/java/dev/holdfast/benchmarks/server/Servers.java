package dev.holdfast.benchmarks.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;

/** The servers of a run. Each is started when a cell first needs it, and all cells share it. Not thread-safe. */
public final class Servers implements AutoCloseable {

    /** A kind of server. */
    public enum Kind {
        REDIS("Redis"),
        POSTGRESQL("PostgreSQL"),
        MARIADB("MariaDB"),
        ETCD("etcd"),
        ZOOKEEPER("ZooKeeper");

        private final String title;

        Kind(String title) {
            this.title = title;
        }

        public String title() {
            return title;
        }

        private Path address(Path place) {
            return place.resolve(name());
        }

        private Path process(Path place) {
            return place.resolve(name() + ".pid");
        }
    }

    private final Map<Kind, RunningServer> running = new EnumMap<>(Kind.class);

    /** Empties the server of a kind, and writes its address to a directory, for the cell that runs there. */
    public void lend(Kind kind, Path place) {
        RunningServer server = running.computeIfAbsent(kind, RunningServer::start);
        try {
            Files.writeString(kind.address(place), server.emptied().get());
            Files.writeString(kind.process(place), Long.toString(server.pid().getAsLong()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The address of the server that was lent to a directory. */
    public static String address(Kind kind, Path place) {
        return read(kind.address(place));
    }

    /** The first process of the server that was lent to a directory. */
    public static long pid(Kind kind, Path place) {
        return Long.parseLong(read(kind.process(place)));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The servers that ran, by name, with their versions. */
    public Map<String, String> versions() {
        Map<String, String> versions = new TreeMap<>();
        running.forEach((kind, server) ->
                versions.put(kind.title(), server.description().get()));
        return versions;
    }

    @Override
    public void close() {
        running.values().forEach(server -> server.end().run());
        running.clear();
    }
}
