package dev.holdfast.servers;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.lettuce.core.RedisException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A Redis server, of the version that is among the resources, or the program that the system property {@code
 * holdfast.redis.server} or the environment variable {@code HOLDFAST_REDIS_SERVER} names, which may be Valkey's. It
 * keeps nothing on disk by default, so it is empty after a kill and a restart.
 *
 * <p><b>Thread-safety:</b> {@link #command} may be called from any thread, the rest from one at a time.
 */
public final class RedisServer implements AutoCloseable {

    /** How the libraries call what they bring, in the names of the files. */
    private static final List<String> NAMES = List.of("7.0.15", "6.2.6-v5", "6.2.7");

    /** They allow what Redis forbids since version 7, and always allowed before that. */
    private static final Set<String> SINCE_7 = Set.of("enable-debug-command", "enable-protected-configs");

    private static final String PROPERTY = "holdfast.redis.server";
    private static final String VARIABLE = "HOLDFAST_REDIS_SERVER";

    private final Path directory;
    private final List<String> arguments;
    private final int port;
    private final int tlsPort;
    private final @Nullable String password;
    private ServerProcess process;
    private RedisAdmin admin;

    private RedisServer(Path directory, List<String> arguments, int port, int tlsPort, @Nullable String password) {
        this.directory = directory;
        this.arguments = arguments;
        this.port = port;
        this.tlsPort = tlsPort;
        this.password = password;
        this.process = ServerProcess.start(directory, command());
        this.admin = new RedisAdmin(port, password);
        awaitAnswer();
    }

    /** The settings of a server. */
    public static final class Builder {
        private final Map<String, String> options = new LinkedHashMap<>();
        private final Map<String, String> secrets = new LinkedHashMap<>();
        private final List<String> flags = new ArrayList<>();
        private int port;
        private int portDistance;
        private boolean hasTls;
        private @Nullable String password;

        private Builder() {
            options.put("bind", "127.0.0.1");
            options.put("save", "\"\"");
            options.put("appendonly", "no");
            // Else a replica waits 5 s for others before it is served, and a fail-over loses what was written
            // meanwhile.
            options.put("repl-diskless-sync-delay", "0");
            if (DefaultSettings.areWanted()) {
                options.remove("save");
                options.remove("appendonly");
            }
        }

        /** Sets a directive of redis.conf, as it would stand there: what has blanks and is one word is in quotes. */
        @CanIgnoreReturnValue
        public Builder option(String name, String value) {
            options.put(name, value);
            return this;
        }

        /** Asks for a password of the default user. */
        @CanIgnoreReturnValue
        public Builder password(String secret) {
            password = secret;
            secrets.put("requirepass", secret);
            secrets.put("masterauth", secret);
            return this;
        }

        /**
         * Listens for TLS too, on a separate port.
         *
         * @param authority who must have signed the certificates of clients; they need none if it is null
         */
        @CanIgnoreReturnValue
        public Builder tls(Certificates.Pair own, @Nullable Path authority) {
            hasTls = true;
            option("tls-cert-file", own.certificate().toString());
            option("tls-key-file", own.key().toString());
            option("tls-ca-cert-file", (authority == null ? own.certificate() : authority).toString());
            return option("tls-auth-clients", authority == null ? "no" : "yes");
        }

        /**
         * Listens for TLS too, and speaks nothing else with other servers, which must have certificates of the same
         * authority; clients need none.
         */
        @CanIgnoreReturnValue
        Builder tlsAmongServers(Certificates certificates) {
            tls(certificates.server(), certificates.authority());
            option("tls-auth-clients", "no");
            return option("tls-replication", "yes");
        }

        /** Makes it a replica. */
        @CanIgnoreReturnValue
        public Builder replicaOf(RedisServer primary) {
            return option("replicaof", "127.0.0.1 " + primary.port());
        }

        /** Listens there, instead of on a port that is free. */
        @CanIgnoreReturnValue
        public Builder port(int number) {
            port = number;
            return this;
        }

        @CanIgnoreReturnValue
        Builder clustered(int busDistance) {
            portDistance = busDistance;
            return option("cluster-enabled", "yes");
        }

        @CanIgnoreReturnValue
        Builder flag(String flag) {
            flags.add(flag);
            return this;
        }

        /** Starts it, and returns when it answers. */
        public RedisServer start() {
            int chosen = port == 0 ? Ports.free(portDistance) : port;
            int tlsPort = 0;
            if (hasTls) {
                do {
                    tlsPort = Ports.free(portDistance);
                } while (tlsPort == chosen);
                option("tls-port", String.valueOf(tlsPort));
            }
            if (!Collections.disjoint(options.keySet(), SINCE_7) && programVersion() < 7) {
                options.keySet().removeAll(SINCE_7);
            }
            Path directory = ServerHome.directory("redis");
            StringBuilder text = new StringBuilder("port ").append(chosen).append('\n');
            options.forEach(
                    (name, value) -> text.append(name).append(' ').append(value).append('\n'));
            secrets.forEach((name, value) ->
                    text.append(name).append(' ').append(quoted(value)).append('\n'));
            Path file = directory.resolve("redis.conf");
            try {
                Files.writeString(file, text);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            List<String> arguments = new ArrayList<>(List.of(file.toString()));
            arguments.addAll(flags);
            return new RedisServer(directory, arguments, chosen, tlsPort, password);
        }
    }

    private static String quoted(String word) {
        return '"' + word.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** A server with what differs from the usual. */
    public static Builder builder() {
        return new Builder();
    }

    /** A plain server on a free port. */
    public static RedisServer start() {
        return builder().start();
    }

    /** Its port on 127.0.0.1. */
    public int port() {
        return port;
    }

    /** Its port for TLS on 127.0.0.1; 0 if it has none. */
    public int tlsPort() {
        return tlsPort;
    }

    /** Its address, with the password if there is one. */
    public String uri() {
        return "redis://" + (password == null ? "" : ":" + URLEncoder.encode(password, StandardCharsets.UTF_8) + "@")
                + "127.0.0.1:" + port;
    }

    /** Its process. */
    public ServerProcess process() {
        return process;
    }

    /**
     * Asks it something, as on its command line.
     *
     * @return the answer flattened: one element for a single value, else the elements, which may be lists
     * @throws RedisException if it can't be reached, or answers with an error
     */
    @CanIgnoreReturnValue
    public List<Object> command(String... words) {
        return admin.command(words);
    }

    /** What INFO says of this, such as {@code role}. */
    public String info(String key) {
        String text = String.valueOf(command("INFO", "everything").get(0));
        return text.lines()
                .filter(line -> line.startsWith(key + ":"))
                .map(line -> line.substring(key.length() + 1))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("INFO says nothing of " + key));
    }

    /** The number before the first dot of its version; for Valkey, of the version of Redis that it stands in for. */
    public int majorVersion() {
        String version = info("redis_version");
        return Integer.parseInt(version.substring(0, version.indexOf('.')));
    }

    /** Kills the server. */
    public void kill() {
        process.kill();
    }

    /** Restarts a stopped server on the same port, and returns when it replies. */
    public void restart() {
        process.kill();
        process = ServerProcess.start(directory, command());
        awaitAnswer();
    }

    @Override
    public void close() {
        admin.close();
        process.close();
    }

    private List<String> command() {
        List<String> command = new ArrayList<>(List.of(program().toString()));
        command.addAll(arguments);
        return command;
    }

    private void awaitAnswer() {
        Until.await("Redis answers on port " + port, () -> {
            if (!process.isAlive()) {
                throw new IllegalStateException("Redis did not start: " + process.log());
            }
            try {
                command("PING");
                return true;
            } catch (RedisException e) {
                return false;
            }
        });
    }

    /** The number before the first dot of the version that servers here will have. */
    public static int programVersion() {
        String said = Command.output(program().toString(), "--version");
        Matcher version = Pattern.compile(" v=([0-9]+)[.]").matcher(said);
        if (!version.find()) {
            throw new IllegalStateException("What version is this? " + said);
        }
        return Integer.parseInt(version.group(1));
    }

    private static Path program() {
        return LocalBinaries.at(PROPERTY, VARIABLE).orElseGet(() -> ServerHome.executable(resource()));
    }

    private static String resource() {
        String machine = switch (System.getProperty("os.arch").toLowerCase(Locale.ROOT)) {
            case "amd64", "x86_64" -> "amd64";
            case "aarch64", "arm64" -> "arm64";
            default -> System.getProperty("os.arch");
        };
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("mac") ? "darwin" : "linux";
        return NAMES.stream()
                .map(name -> "redis-server-" + name + "-" + system + "-" + machine)
                .filter(Resource::isThere)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("There is no Redis for this machine: " + NAMES));
    }
}
