package dev.holdfast.servers;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * A MySQL server, on x86-64, for those who bring its distribution: that is too large for each build, and its driver has
 * a licence of its own. It is a zip file, or the directory that the system property {@code holdfast.mysql.home} or the
 * environment variable {@code HOLDFAST_MYSQL_HOME} names. The server survives being killed, but not that the machine
 * is.
 */
public final class MysqlServer extends MysqlFamilyServer {

    private static final String PROGRAM = "bin/mysqld";

    /** The distribution, as a file of the kind zip. */
    private static final String ZIP = "holdfast.mysql.zip";

    private static final String PROPERTY = "holdfast.mysql";
    private static final String VARIABLE = "HOLDFAST_MYSQL";
    private static final String HOME_PROPERTY = "holdfast.mysql.home";
    private static final String HOME_VARIABLE = "HOLDFAST_MYSQL_HOME";

    /** A copy of the empty server is smaller by this. */
    private static final String SMALL_LOG = "8M";

    private MysqlServer(String url, Path directory, List<String> command, int port) {
        super(url, directory, command, port);
    }

    /** What a server is to be like. */
    public static final class Builder extends FamilyBuilder<MysqlServer, Builder> {

        private Builder() {
            options.put("mysqlx", "OFF"); // would listen on another port
            forSpeed("sync-binlog", "0");
            forSpeed("innodb-redo-log-capacity", SMALL_LOG);
            asItComesIfWanted();
        }

        @Override
        Builder self() {
            return this;
        }

        @Override
        public MysqlServer start() {
            Path home = home();
            Path directory = ServerHome.directory("mysql");
            requireLibraries(home, directory);
            int port = Ports.free();
            List<String> command = serve(command(home, directory), template(home), directory, port);
            return new MysqlServer(url(port), directory, command, port);
        }
    }

    /** A server with what differs from the usual. */
    public static Builder builder() {
        return new Builder();
    }

    /** A plain server on a free port. */
    public static MysqlServer start() {
        return builder().start();
    }

    /** Whether a distribution was brought, as a directory or by the system property {@code holdfast.mysql.zip}. */
    public static boolean isThere() {
        return !System.getProperty(ZIP, "").isEmpty()
                || LocalBinaries.at(HOME_PROPERTY, HOME_VARIABLE).isPresent();
    }

    /**
     * The server whose JDBC URL is in the system property {@code holdfast.mysql} or the environment variable {@code
     * HOLDFAST_MYSQL}, else one for all tests of this JVM that need nothing special of it.
     */
    public static SqlServer shared() {
        return Shared.SERVER;
    }

    private static final class Shared {
        private static final SqlServer SERVER = given(PROPERTY, VARIABLE).orElseGet(MysqlServer::start);
    }

    /** Statements are prepared on the server, as by a store that is opened by its URI. */
    private static String url(int port) {
        String server = "://127.0.0.1:" + port
                + "/test?user=root&useServerPrepStmts=true&allowPublicKeyRetrieval=true&sslMode=";
        return Boolean.getBoolean("holdfast.mysql.by-mariadb")
                ? "jdbc:mariadb" + server + "disable"
                : "jdbc:mysql" + server + "DISABLED";
    }

    private static Path home() {
        return LocalBinaries.at(HOME_PROPERTY, HOME_VARIABLE).orElseGet(MysqlServer::unpacked);
    }

    private static Path unpacked() {
        File zip = new File(System.getProperty(ZIP, ""));
        if (!zip.isFile()) {
            throw new IllegalStateException("There is no distribution of MySQL '" + zip + "' (" + ZIP + ")");
        }
        return ServerHome.made(zip.getName().replace(".zip", ""), directory -> {
            try (ZipFile distribution = new ZipFile(zip)) {
                for (ZipEntry entry : Collections.list(distribution.entries())) {
                    if (isNeeded(entry)) {
                        Path file = directory.resolve(entry.getName());
                        Files.createDirectories(file.getParent());
                        try (InputStream in = distribution.getInputStream(entry)) {
                            unpack(entry.getName(), in, file);
                        }
                    }
                }
            }
        });
    }

    private static void unpack(String name, InputStream in, Path file) throws IOException {
        if (name.equals(PROGRAM)) {
            Elf.copy(in, file);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        } else {
            Files.copy(in, file);
        }
    }

    private static boolean isNeeded(ZipEntry entry) {
        String name = entry.getName();
        return !entry.isDirectory()
                && (name.equals(PROGRAM)
                        || name.startsWith("share/english/")
                        || name.startsWith("share/charsets/")
                        || name.startsWith("lib/private/")
                        || name.equals("lib/plugin/component_reference_cache.so"));
    }

    /** All but two of them come with it. */
    private static void requireLibraries(Path home, Path directory) {
        List<String> command = List.of(home.resolve(PROGRAM).toString(), "--no-defaults", "--version");
        try {
            Command.run(directory, command);
        } catch (IllegalStateException e) {
            throw new IllegalStateException(
                    "MySQL does not run on this machine. It needs libaio.so.1 and libnuma.so.1, which are in the"
                            + " packages libaio1 and libnuma1 of Debian, and in libaio1t64 of newer ones; those that"
                            + " are elsewhere are found by LD_LIBRARY_PATH. " + e.getMessage(),
                    e);
        }
    }

    private static Path template(Path home) {
        return ServerHome.made("mysql-" + LocalBinaries.identity(home.resolve(PROGRAM)) + "-empty", directory -> {
            // The existing root user can connect only through the socket.
            Path script = Files.writeString(directory.resolve("script.sql"), """
                    CREATE USER root@'127.0.0.1';
                    GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;
                    CREATE DATABASE test;
                    """);
            List<String> command = command(home, directory);
            command.add("--innodb-redo-log-capacity=" + SMALL_LOG);
            command.add("--initialize-insecure");
            command.add("--init-file=" + script);
            Command.run(directory, command);
        });
    }

    private static List<String> command(Path home, Path directory) {
        List<String> command = command(home, PROGRAM, directory);
        command.add("--plugin-dir=" + home.resolve("lib/plugin"));
        command.add("--secure-file-priv=NULL"); // else a directory of the machine that Debian's builds insist on
        return command;
    }
}
