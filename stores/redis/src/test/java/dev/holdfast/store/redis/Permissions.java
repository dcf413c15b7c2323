package dev.holdfast.store.redis;

import dev.holdfast.servers.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The users of the manual: what is tested is what it shows. */
final class Permissions {

    static final Path SERVER = Path.of("..", "..", "docs", "stores", "redis.acl");
    static final Path SENTINEL = Path.of("..", "..", "docs", "stores", "redis-sentinel.acl");

    private Permissions() {}

    /** The rules of the one user of a file, whose name is {@code locks}. */
    static List<String> of(Path file) {
        try {
            List<String> words = List.of(Files.readString(file).strip().split("\\s+"));
            if (!words.get(0).equals("user") || !words.get(1).equals("locks")) {
                throw new IllegalStateException(file + " does not begin with the user 'locks'");
            }
            return words.subList(2, words.size());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Makes such a user on a server, for keys and channels of another namespace, with the password {@code change-me}.
     */
    static void grant(RedisServer server, String user, Path file, String namespace) {
        List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", user, "reset"));
        of(file).forEach(rule -> words.add(rule.replace("holdfast:*", namespace)));
        server.command(words.toArray(String[]::new));
    }
}
