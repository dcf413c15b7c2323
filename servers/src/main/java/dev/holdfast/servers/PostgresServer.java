package dev.holdfast.servers;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A PostgreSQL server, of the version whose archive is among the resources, or in the directory that the system
 * property {@code holdfast.postgres.home} or the environment variable {@code HOLDFAST_POSTGRES_HOME} names. It survives
 * being killed, but not that the machine is: it flushes nothing by default.
 */
public final class PostgresServer extends LocalSqlServer {

    private static final String PROPERTY = "holdfast.postgres";
    private static final String VARIABLE = "HOLDFAST_POSTGRES";
    static final String HOME_PROPERTY = "holdfast.postgres.home";
    static final String HOME_VARIABLE = "HOLDFAST_POSTGRES_HOME";

    private final Path directory;
    private final Builder builder;

    private PostgresServer(Path directory, Builder builder, int port) {
        super(
                "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres&sslmode=disable",
                directory,
                builder.command(directory, port),
                port);
        this.directory = directory;
        this.builder = builder;
    }

    /**
     * Starts a hot standby that has what this server has now, and does not follow it from here on, as a replica that
     * lags. This server is killed for a moment and started again.
     */
    public PostgresServer laggingStandby() {
        Path copy = ServerHome.directory("postgres");
        kill();
        Trees.copy(data(directory), data(copy));
        restart();
        try {
            Files.deleteIfExists(data(copy).resolve("postmaster.pid"));
            Files.createFile(data(copy).resolve("standby.signal"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Unprivileged.here().give(data(copy));
        return new PostgresServer(copy, builder, Ports.free());
    }

    private static Path data(Path directory) {
        return directory.resolve("data");
    }

    /** What a server is to be like. */
    public static final class Builder extends LocalSqlServer.Builder<PostgresServer, Builder> {

        /** The size of a file of the log, in megabytes: a copy of the empty cluster has one. */
        private int segment = 1;

        private Builder() {
            options.put("listen_addresses", "127.0.0.1");
            options.put("unix_socket_directories", "");
            options.put("max_connections", "200");
            // In the data directory: a killed server would leave it in /dev/shm.
            options.put("dynamic_shared_memory_type", "mmap");
            forSpeed("fsync", "off");
            forSpeed("shared_buffers", "32MB");
            asItComesIfWanted();
        }

        @Override
        Builder self() {
            return this;
        }

        @Override
        @CanIgnoreReturnValue
        public Builder asItComes() {
            segment = 16;
            return super.asItComes();
        }

        @Override
        public PostgresServer start() {
            Path directory = ServerHome.directory("postgres");
            Trees.copy(data(template(home(), segment)), data(directory));
            Unprivileged.here().give(data(directory));
            return new PostgresServer(directory, this, Ports.free());
        }

        private List<String> command(Path directory, int port) {
            List<String> command = new ArrayList<>(Unprivileged.here().prefix());
            String program = home().resolve("bin/postgres").toString();
            command.addAll(List.of(program, "-D", data(directory).toString(), "-p", "" + port));
            options.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
            return command;
        }
    }

    /** A server with what differs from the usual. */
    public static Builder builder() {
        return new Builder();
    }

    /** A plain server on a free port. */
    public static PostgresServer start() {
        return builder().start();
    }

    /**
     * The server whose JDBC URL is in the system property {@code holdfast.postgres} or the environment variable {@code
     * HOLDFAST_POSTGRES}, else one for all tests of this JVM that need nothing special of it.
     */
    public static SqlServer shared() {
        return Shared.SERVER;
    }

    /** Lines of the log about a failed statement. */
    @Override
    public List<String> errors() {
        return process().logged("ERROR:");
    }

    private static final class Shared {
        private static final SqlServer SERVER = given(PROPERTY, VARIABLE).orElseGet(PostgresServer::start);
    }

    private static Path home() {
        return LocalBinaries.at(HOME_PROPERTY, HOME_VARIABLE).orElseGet(PostgresServer::unpacked);
    }

    private static Path unpacked() {
        Resource archive = archive();
        return ServerHome.made("postgres-" + archive.identity(), directory -> {
            try (InputStream in = archive.open()) {
                TarXz.unpack(in, directory);
            }
        });
    }

    private static Path template(Path home, int segment) {
        String version = LocalBinaries.identity(home.resolve("bin/postgres"));
        String name = "postgres-" + version + "-empty-" + segment + "-" + Unprivileged.here();
        return ServerHome.made(name.toLowerCase(Locale.ROOT), directory -> {
            Unprivileged.here().give(directory);
            List<String> command = new ArrayList<>(Unprivileged.here().prefix());
            command.addAll(List.of(
                    home.resolve("bin/initdb").toString(),
                    "--pgdata=" + directory.resolve("data"),
                    "--username=postgres",
                    "--auth=trust",
                    "--encoding=UTF8",
                    "--locale=C",
                    "--wal-segsize=" + segment,
                    "--no-sync"));
            Command.run(directory, command);
        });
    }

    private static Resource archive() {
        String machine = switch (System.getProperty("os.arch").toLowerCase(Locale.ROOT)) {
            case "amd64", "x86_64" -> "x86_64";
            case "aarch64", "arm64" -> "arm_64";
            default -> System.getProperty("os.arch");
        };
        return Resource.of("postgres-linux-" + machine + ".txz");
    }
}
