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
 * A ZooKeeper server in a JVM of its own, alone or a member of an {@linkplain ZooKeeperEnsemble ensemble}: of the
 * version on the class path, or of the one whose jars are in the directory that the system property {@code
 * holdfast.zookeeper.home} or the environment variable {@code HOLDFAST_ZOOKEEPER_HOME} names. It keeps its data on
 * disk, so one that was killed and started again has it.
 *
 * <p><b>Thread-safety:</b> {@link #ask} may be called from any thread, the rest from one at a time.
 */
public final class ZooKeeperServer implements Member {

    private static final int ASK_TIMEOUT_MILLIS = 30_000;

    /** One that has just begun to listen may leave a question without an answer: it is asked again. */
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

    /** What a server is to be like. */
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
            // A process that is killed loses nothing that it has written, and a transaction log has 64 MB from the
            // start.
            property("zookeeper.forceSync", "no");
            property("zookeeper.preAllocSize", "1024");
        }

        /** Sets a line of its configuration file. */
        @CanIgnoreReturnValue
        public Builder option(String name, String value) {
            options.put(name, value);
            return this;
        }

        /** With the settings that it comes with: long ticks, and it flushes each write to the disk. */
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
         * Speaks TLS on a port of its own, {@link #tlsPort}, and demands a certificate of this authority from clients.
         */
        @CanIgnoreReturnValue
        public Builder tls(Certificates.Pair own, Path authority) {
            speaksTls = true;
            option("serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory");
            option("ssl.keyStore.location", own.together().toString());
            option("ssl.keyStore.type", "PEM");
            option("ssl.trustStore.location", authority.toString());
            return option("ssl.trustStore.type", "PEM");
        }

        @CanIgnoreReturnValue
        Builder member(int number) {
            id = number;
            return this;
        }

        /** Starts it, and returns when it answers. */
        public ZooKeeperServer start() {
            ZooKeeperServer server = launch();
            server.awaitService();
            return server;
        }

        /** Starts its process. A member of an ensemble serves when others do. */
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

    /** A server with what differs from the usual. */
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

    /** Its address, as clients of ZooKeeper take it. */
    public String connectString() {
        return "127.0.0.1:" + port;
    }

    @Override
    public ServerProcess process() {
        return process;
    }

    /**
     * Asks it something by a word of four letters.
     *
     * @throws UncheckedIOException if it can't be reached, or does not answer
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

    /** What it is at present: {@code standalone}, {@code leader} or {@code follower}; empty while it does not serve. */
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

    /** How many nodes it has. */
    public int nodes() {
        return Integer.parseInt(said("Node count: ", ASK_TIMEOUT_MILLIS));
    }

    /** How many packets it has had, signs of life included. */
    public long requests() {
        return Long.parseLong(said("Received: ", ASK_TIMEOUT_MILLIS));
    }

    /** The rest of the line of its status that begins so; empty if there is none. */
    private String said(String head, int timeoutMillis) {
        return ask("srvr", timeoutMillis)
                .lines()
                .filter(line -> line.startsWith(head))
                .map(line -> line.substring(head.length()))
                .findFirst()
                .orElse("");
    }

    /** Ends it as a crash would. */
    public void kill() {
        process.kill();
    }

    @Override
    public void restart() {
        relaunch();
        awaitService();
    }

    /** {@inheritDoc} It is a line of its configuration file. */
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

    /** Ends it, keeps a copy of its data for {@link #restore}, and starts it again. */
    public void backUp() {
        process.kill();
        Trees.delete(directory.resolve("backup"));
        Trees.copy(directory.resolve("data"), directory.resolve("backup"));
        restart();
    }

    /** Ends it, and starts it again with the data of the {@linkplain #backUp backup}. */
    public void restore() {
        process.kill();
        Trees.delete(directory.resolve("data"));
        Trees.copy(directory.resolve("backup"), directory.resolve("data"));
        restart();
    }

    /** Deletes its data, after it was ended: started again, it has what the others of its ensemble tell it. */
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
