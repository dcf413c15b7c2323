package dev.holdfast.cli.store;

import dev.holdfast.cli.console.Spelling;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What somebody meant who wrote something else than the URI of a store. */
final class UriHints {

    /** All stores of the command, the usual ones first. */
    static final List<String> SCHEMES = List.of(
            "sqlite",
            "postgresql",
            "mariadb",
            "mysql",
            "redis",
            "rediss",
            "redis-sentinel",
            "rediss-sentinel",
            "redis-cluster",
            "rediss-cluster",
            "etcd",
            "etcds",
            "zookeeper",
            "zookeepers",
            "quorum",
            "memory");

    private static final Map<String, String> OTHER_NAMES = Map.of(
            "file", "sqlite",
            "sqlite3", "sqlite",
            "postgres", "postgresql",
            "pg", "postgresql",
            "maria", "mariadb",
            "valkey", "redis",
            "sentinel", "redis-sentinel",
            "zk", "zookeeper");

    private static final Map<String, String> PORTS = Map.of(
            "2181", "zookeeper",
            "2379", "etcd",
            "3306", "mariadb",
            "5432", "postgresql",
            "6379", "redis",
            "26379", "redis-sentinel");

    private UriHints() {}

    /** A message about a text, and behind it what may have been meant. */
    static String after(String message, String text) {
        return message + find(text).map(hint -> ". " + hint).orElse("");
    }

    /** A sentence about what has no scheme that the command knows; empty if there is no telling. */
    private static Optional<String> find(String text) {
        // Compiled here, for only mistakes need it: the first regular expression of a JVM takes long.
        Matcher server = Pattern.compile("(https?://)?(?<host>[\\w.-]+):(?<port>[0-9]{1,5})(?<rest>/.*)?")
                .matcher(text);
        int colon = text.indexOf(':');
        if (server.matches()) {
            String rest = server.group("rest") == null ? "" : server.group("rest");
            return Optional.ofNullable(PORTS.get(server.group("port")))
                    .map(scheme -> meant(scheme + "://" + server.group("host") + ":" + server.group("port") + rest));
        } else if (text.startsWith("jdbc:")) {
            return Optional.of("Leave out 'jdbc:'.");
        } else if (colon < 0 && !SCHEMES.contains(text) && isFile(text)) {
            return Optional.of(meant("sqlite:" + text));
        }
        String scheme = colon < 0 ? text : text.substring(0, colon);
        Optional<String> known =
                Optional.ofNullable(OTHER_NAMES.get(scheme)).or(() -> Spelling.nearest(scheme, SCHEMES));
        return known.map(each -> meant(each + ":"));
    }

    private static boolean isFile(String text) {
        return (text.indexOf('/') >= 0 && text.indexOf('@') < 0) || text.endsWith(".db") || text.endsWith(".sqlite");
    }

    private static String meant(String uri) {
        return "Did you mean '" + uri + "'?";
    }
}
