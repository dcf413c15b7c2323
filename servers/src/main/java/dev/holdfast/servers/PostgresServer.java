package dev.holdfast.servers;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A PostgreSQL server, of the version whose archive is among the resources, or in the directory that the system
 * property {@code holdfast.postgres.home} or the environment variable {@code HOLDFAST_POSTGRES_HOME} names. It survives
 * being killed, but not that the machine is: it flushes nothing, unless told to.
 */
public final class PostgresServer extends LocalSqlServer {

    private static final String PROPERTY = "holdfast.postgres";
    private static final String VARIABLE = "HOLDFAST_POSTGRES";
    static final String HOME_PROPERTY = "holdfast.postgres.home";
    static final String HOME_VARIABLE = "HOLDFAST_POSTGRES_HOME";

    private PostgresServer(Path directory, List<String> command, int port) {
        super(
                "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres&sslmode=disable",
                directory,
                command,
                port);
    }

    /** What a server is to be like. */
    public static final class Builder extends LocalSqlServer.Builder<PostgresServer, Builder> {

        /** The size of a file of the log, in megabytes: a copy of the empty cluster has one. */
        private int segment = 1;

        private Builder() {
            options.put("listen_addresses", "127.0.0.1");
            options.put("unix_socket_directories", "");
            options.put("max_connections", "200");
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
            Path home = home();
            Path template = template(home, segment);
            Path directory = ServerHome.directory("postgres");
            Path data = directory.resolve("data");
            Trees.copy(template.resolve("data"), data);
            Unprivileged.here().give(data);
            int port = Ports.free();
            List<String> command = new ArrayList<>(Unprivileged.here().prefix());
            command.addAll(List.of(home.resolve("bin/postgres").toString(), "-D", data.toString(), "-p", "" + port));
            options.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
            return new PostgresServer(directory, command, port);
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

    /** Lines of the log that tell of a statement that failed. */
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
