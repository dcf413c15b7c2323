package dev.holdfast.servers;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A ZooKeeper server in a separate JVM, alone or in an {@linkplain ZooKeeperEnsemble ensemble}. Its version is that on
 * the class path, or that of the jars in the directory named by the system property {@code holdfast.zookeeper.home} or
 * the environment variable {@code HOLDFAST_ZOOKEEPER_HOME}. It keeps its data on disk, also when it is killed.
 *
 * <p><b>Thread-safety:</b> {@link #ask} may be called from any thread, the rest from one thread at a time.
 */
public final class ZooKeeperServer implements Member {

    private static final int ASK_TIMEOUT_MILLIS = 30_000;

    /** A server that has just begun to listen may not reply to a command, which is then sent again. */
    private static final int MODE_TIMEOUT_MILLIS = 2_000;

    private final Path directory;
    private final List<String> command;
    private final int port;
    private final int tlsPort;
    private ServerProcess process;

    private ZooKeeperServer(Path directory, List<String> command, int port, int tlsPort) {
        this.directory = directory;
        this.command = command;
        this.port = port;
        this.tlsPort = tlsPort;
        this.process = launched();
    }

    /** The settings of a server. */
    public static final class Builder {
        private final Map<String, String> options = new LinkedHashMap<>();
        private final Map<String, String> properties = new LinkedHashMap<>();
        private List<String> jvmOptions = ZooKeeperJvm.QUICK_TO_START;
        private int id;
        private boolean speaksTls;

        private Builder() {
            option("tickTime", "100");
            option("maxSessionTimeout", "36000000");
            option("maxClientCnxns", "0");
            option("clientPortAddress", "127.0.0.1");
            option("admin.enableServer", "false");
            option("4lw.commands.whitelist", "*");
            // A killed process loses nothing that it has written. A transaction log would have 64 MB from the start.
            property("zookeeper.forceSync", "no");
            property("zookeeper.preAllocSize", "1024");
        }

        /** Sets a line of its configuration file. */
        @CanIgnoreReturnValue
        public Builder option(String name, String value) {
            options.put(name, value);
            return this;
        }

        /** Uses the default settings: long ticks, and each write is flushed to the disk. */
        @CanIgnoreReturnValue
        public Builder asItComes() {
            options.remove("tickTime");
            options.remove("maxSessionTimeout");
            properties.clear();
            jvmOptions = List.of();
            return this;
        }

        /** Sets a system property of its JVM. */
        @CanIgnoreReturnValue
        public Builder property(String name, String value) {
            properties.put(name, value);
            return this;
        }

        /**
         * Speaks TLS on a separate port, {@link #tlsPort}, and demands a certificate of this authority from clients.
         */
        @CanIgnoreReturnValue
        public Builder tls(Certificates.Pair own, Path authority) {
            speaksTls = true;
            option("serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory");
            option("ssl.keyStore.location", own.combined().toString());
            option("ssl.keyStore.type", "PEM");
            option("ssl.trustStore.location", authority.toString());
            return option("ssl.trustStore.type", "PEM");
        }

        @CanIgnoreReturnValue
        Builder member(int number) {
            id = number;
            return this;
        }

        /** Starts the server, and returns when it replies. */
        public ZooKeeperServer start() {
            ZooKeeperServer server = launch();
            server.awaitService();
            return server;
        }

        /** Starts the process. A member of an ensemble serves when others do. */
        ZooKeeperServer launch() {
            Path directory = ServerHome.directory("zookeeper");
            int port = Ports.free();
            option("clientPort", String.valueOf(port));
            int tlsPort = speaksTls ? Ports.free() : 0;
            if (speaksTls) {
                option("secureClientPort", String.valueOf(tlsPort));
                option("secureClientPortAddress", "127.0.0.1");
            }
            option("dataDir", directory.resolve("data").toString());
            StringBuilder text = new StringBuilder();
            options.forEach(
                    (name, value) -> text.append(name).append('=').append(value).append('\n'));
            try {
                Files.createDirectories(directory.resolve("data"));
                Files.writeString(directory.resolve("data").resolve("myid"), String.valueOf(id));
                Files.writeString(directory.resolve("zoo.cfg"), text);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            List<String> command =
                    ZooKeeperJvm.command(jvmOptions, properties, speaksTls, directory.resolve("zoo.cfg"));
            return new ZooKeeperServer(directory, command, port, tlsPort);
        }
    }

    /** A server with other settings. */
    public static Builder builder() {
        return new Builder();
    }

    /** A plain server on a free port, with ticks of 100 ms. */
    public static ZooKeeperServer start() {
        return builder().start();
    }

    @Override
    public int port() {
        return port;
    }

    /** Its port for TLS on 127.0.0.1; 0 if it speaks none. */
    public int tlsPort() {
        return tlsPort;
    }

    /** Its connect string for clients of ZooKeeper. */
    public String connectString() {
        return "127.0.0.1:" + port;
    }

    @Override
    public ServerProcess process() {
        return process;
    }

    /**
     * Sends a four-letter word and returns the reply.
     *
     * @throws UncheckedIOException if the server can't be reached, or does not reply
     */
    public String ask(String word) {
        return ask(word, ASK_TIMEOUT_MILLIS);
    }

    private String ask(String word, int timeoutMillis) {
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(timeoutMillis);
            socket.connect(Ports.local(port), timeoutMillis);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its present role: {@code standalone}, {@code leader} or {@code follower}; empty while it does not serve. */
    public String mode() {
        if (!process.isAlive() || process.isPaused()) {
            return "";
        }
        try {
            return said("Mode: ", MODE_TIMEOUT_MILLIS);
        } catch (UncheckedIOException e) {
            return "";
        }
    }

    /** Its version, such as 3.9.5. */
    public String version() {
        String build = said("Zookeeper version: ", ASK_TIMEOUT_MILLIS);
        return build.substring(0, build.indexOf('-'));
    }

    /** The number of its nodes. */
    public int nodes() {
        return Integer.parseInt(said("Node count: ", ASK_TIMEOUT_MILLIS));
    }

    /** The number of packets received, pings included. */
    public long requests() {
        return Long.parseLong(said("Received: ", ASK_TIMEOUT_MILLIS));
    }

    /** The rest of the status line with a prefix; empty if there is none. */
    private String said(String head, int timeoutMillis) {
        return ask("srvr", timeoutMillis)
                .lines()
                .filter(line -> line.startsWith(head))
                .map(line -> line.substring(head.length()))
                .findFirst()
                .orElse("");
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

    /** {@inheritDoc} The setting is a line of the configuration file. */
    @Override
    public void restartWith(String name, String value) {
        try {
            Files.writeString(
                    directory.resolve("zoo.cfg"), '\n' + name + '=' + value + '\n', StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        restart();
    }

    /** Stops the server, copies its data for {@link #restore}, and starts it again. */
    public void backUp() {
        process.kill();
        Trees.delete(directory.resolve("backup"));
        Trees.copy(directory.resolve("data"), directory.resolve("backup"));
        restart();
    }

    /** Stops the server, and starts it again with the data of the {@linkplain #backUp backup}. */
    public void restore() {
        process.kill();
        Trees.delete(directory.resolve("data"));
        Trees.copy(directory.resolve("backup"), directory.resolve("data"));
        restart();
    }

    /** Deletes the data of a stopped server: after a restart it gets its data from its ensemble. */
    void deleteData() {
        Trees.delete(directory.resolve("data").resolve("version-2"));
    }

    void relaunch() {
        process.kill();
        process = launched();
    }

    void awaitService() {
        Until.await("ZooKeeper serves on port " + port, () -> {
            if (!process.isAlive()) {
                throw new IllegalStateException("ZooKeeper did not start: " + process.log());
            }
            return !mode().isEmpty();
        });
    }

    @Override
    public void close() {
        process.close();
    }

    private ServerProcess launched() {
        return ServerProcess.start(directory, command);
    }
}
