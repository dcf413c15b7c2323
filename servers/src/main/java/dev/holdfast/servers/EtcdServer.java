package dev.holdfast.servers;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An etcd server, alone or a member of an {@link EtcdCluster}. It keeps its data on disk, also when it is killed.
 * {@link EtcdBinary} finds the program.
 *
 * <p><b>Thread-safety:</b> {@link #call} may be called from any thread, the rest from one thread at a time.
 */
public final class EtcdServer implements Member {

    private static final int TIMEOUT_MILLIS = 10_000;

    private final Path directory;
    private final List<String> command;
    private final int port;
    private final int monitoringPort;
    private ServerProcess process;

    private EtcdServer(Path directory, List<String> command, int port, int monitoringPort) {
        this.directory = directory;
        this.command = command;
        this.port = port;
        this.monitoringPort = monitoringPort;
        this.process = ServerProcess.start(directory, command);
    }

    /** The settings of a server. */
    public static final class Builder {
        /** Doesn't flush: a killed process loses nothing that it has written. Unknown to older versions. */
        private static final String NO_FSYNC = "unsafe-no-fsync";

        private final Map<String, String> options = new LinkedHashMap<>();
        private @Nullable Certificates certificates;
        private boolean isForTests = true;

        private Builder() {
            option("name", "alone");
            option("logger", "zap");
            option("log-level", "warn");
        }

        /** Sets an option of its command line. */
        @CanIgnoreReturnValue
        public Builder option(String name, String value) {
            options.put(name, value);
            return this;
        }

        /** Uses the default settings: each write is flushed to the disk. */
        @CanIgnoreReturnValue
        public Builder asItComes() {
            isForTests = false;
            return this;
        }

        /** Speaks TLS with clients, and demands a certificate of the same authority from each. */
        @CanIgnoreReturnValue
        public Builder tls(Certificates all) {
            certificates = all;
            option("cert-file", all.server().certificate().toString());
            option("key-file", all.server().key().toString());
            option("client-cert-auth", "true");
            return option("trusted-ca-file", all.authority().toString());
        }

        /** Starts the server, and returns when it replies. */
        public EtcdServer start() {
            String peer = "http://127.0.0.1:" + Ports.free();
            option("listen-peer-urls", peer);
            option("initial-advertise-peer-urls", peer);
            option("initial-cluster", options.get("name") + "=" + peer);
            EtcdServer server = launch();
            server.awaitService();
            return server;
        }

        /** Starts the process. A member of a cluster serves when others do. */
        EtcdServer launch() {
            Path directory = ServerHome.directory("etcd");
            int port = Ports.free();
            int monitoringPort = Ports.free();
            String url = (certificates == null ? "http" : "https") + "://127.0.0.1:" + port;
            option("data-dir", directory.resolve("data").toString());
            option("listen-client-urls", url);
            option("advertise-client-urls", url);
            option("listen-metrics-urls", "http://127.0.0.1:" + monitoringPort);
            if (isForTests && EtcdBinary.help().contains("--" + NO_FSYNC + " ")) {
                option(NO_FSYNC, "true");
            }
            List<String> command = new ArrayList<>(List.of(program().toString()));
            options.forEach((name, value) -> command.add("--" + name + "=" + value));
            return new EtcdServer(directory, command, port, monitoringPort);
        }

        private static Path program() {
            return EtcdBinary.program();
        }
    }

    /** A server with other settings. */
    public static Builder builder() {
        return new Builder();
    }

    /** A plain server on a free port. */
    public static EtcdServer start() {
        return builder().start();
    }

    @Override
    public int port() {
        return port;
    }

    /** Its address, as host and port. */
    public String endpoint() {
        return "127.0.0.1:" + port;
    }

    @Override
    public ServerProcess process() {
        return process;
    }

    /** Kills the server. */
    public void kill() {
        process.kill();
    }

    @Override
    public void restart() {
        relaunch();
        awaitService();
    }

    @Override
    public void restartWith(String name, String value) {
        command.removeIf(argument -> argument.startsWith("--" + name + "="));
        command.add("--" + name + "=" + value);
        restart();
    }

    /** Deletes the data of a stopped server: after a restart it is a new server with the same names and ids. */
    public void deleteData() {
        Trees.delete(data());
    }

    /** Copies the data of a stopped server, and returns the directory. */
    public Path backUp() {
        Path backup = directory.resolve("backup");
        Trees.copy(data(), backup);
        return backup;
    }

    /** Replaces the data of a stopped server with a backup. */
    public void putBack(Path backup) {
        deleteData();
        Trees.copy(backup, data());
    }

    private Path data() {
        return directory.resolve("data");
    }

    /** Does the same as {@link #restart}, but does not wait. */
    void relaunch() {
        process.kill();
        process = ServerProcess.start(directory, command);
    }

    /**
     * Sends a request as HTTP and JSON to the port for clients; only without TLS.
     *
     * @param path such as {@code /v3/lease/revoke}
     * @param token the token of a user from {@code /v3/auth/authenticate}; null for none
     * @throws IllegalStateException with the reply if the server refuses
     */
    @CanIgnoreReturnValue
    public String call(String path, String json, @Nullable String token) {
        try {
            HttpURLConnection http = connection("http://" + endpoint() + path);
            http.setRequestMethod("POST");
            http.setDoOutput(true);
            if (token != null) {
                http.setRequestProperty("Authorization", token);
            }
            http.getOutputStream().write(json.getBytes(StandardCharsets.UTF_8));
            int status = http.getResponseCode();
            String answer = text(status == 200 ? http.getInputStream() : http.getErrorStream());
            if (status != 200) {
                throw new IllegalStateException(path + ": " + answer);
            }
            return answer;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends a request without a user. */
    @CanIgnoreReturnValue
    public String call(String path, String json) {
        return call(path, json, null);
    }

    /** Its version, such as 3.5.16. */
    public String version() {
        Matcher version = Pattern.compile("\"etcdserver\":\"([^\"]+)\"")
                .matcher(answerOf("http://" + endpoint() + "/version").orElse(""));
        if (!version.find()) {
            throw new IllegalStateException("etcd does not tell its version");
        }
        return version.group(1);
    }

    /** Its id in the cluster. */
    public long memberId() {
        Matcher id = Pattern.compile("\"member_id\": *\"(\\d+)\"").matcher(call("/v3/maintenance/status", "{}"));
        if (!id.find()) {
            throw new IllegalStateException("etcd does not tell its number");
        }
        return Long.parseUnsignedLong(id.group(1));
    }

    /** The value of a metric without labels; empty if the server does not reply. */
    public Optional<Double> metric(String name) {
        return monitored("/metrics").flatMap(text -> {
            Matcher line =
                    Pattern.compile("(?m)^" + Pattern.quote(name) + " (\\S+)$").matcher(text);
            return line.find() ? Optional.of(Double.valueOf(line.group(1))) : Optional.empty();
        });
    }

    /** The number of requests from clients, including messages of streams. */
    public long requests() {
        String counts = monitored("/metrics").orElseThrow(() -> new IllegalStateException("etcd does not answer"));
        return Pattern.compile("(?m)^grpc_server_msg_received_total\\{.*\\} (\\S+)$")
                .matcher(counts)
                .results()
                .mapToLong(line -> (long) Double.parseDouble(line.group(1)))
                .sum();
    }

    /** Whether it reports that it leads; false if it does not reply. */
    public boolean isLeader() {
        return process.isAlive()
                && !process.isPaused()
                && metric("etcd_server_is_leader").equals(Optional.of(1.0));
    }

    boolean isHealthy() {
        return process.isAlive()
                && !process.isPaused()
                && monitored("/health").filter(text -> text.contains("true")).isPresent();
    }

    void awaitService() {
        Until.await("etcd serves on port " + port, () -> {
            if (!process.isAlive()) {
                throw new IllegalStateException("etcd did not start: " + process.log());
            }
            return isHealthy();
        });
    }

    @Override
    public void close() {
        process.close();
    }

    private Optional<String> monitored(String path) {
        return answerOf("http://127.0.0.1:" + monitoringPort + path);
    }

    private static Optional<String> answerOf(String url) {
        try {
            HttpURLConnection http = connection(url);
            return http.getResponseCode() == 200 ? Optional.of(text(http.getInputStream())) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static HttpURLConnection connection(String url) throws IOException {
        HttpURLConnection http = (HttpURLConnection) URI.create(url).toURL().openConnection();
        http.setConnectTimeout(TIMEOUT_MILLIS);
        http.setReadTimeout(TIMEOUT_MILLIS);
        return http;
    }

    private static String text(InputStream in) throws IOException {
        try (in) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
