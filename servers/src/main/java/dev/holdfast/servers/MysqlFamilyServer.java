package dev.holdfast.servers;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A server of MySQL's family: its options and its command line. */
abstract class MysqlFamilyServer extends LocalSqlServer {

    MysqlFamilyServer(String url, Path directory, List<String> command, int port) {
        super(url, directory, command, port);
    }

    /** Lines of the log about an error of the server, not of a statement. */
    @Override
    public final List<String> errors() {
        return process().logged("[ERROR]");
    }

    /** What both have in common; an option is a system variable, written as on the command line. */
    abstract static class FamilyBuilder<S extends LocalSqlServer, B extends FamilyBuilder<S, B>> extends Builder<S, B> {

        FamilyBuilder() {
            options.put("bind-address", "127.0.0.1");
            options.put("max-connections", "200");
            forSpeed("innodb-flush-log-at-trx-commit", "2");
            forSpeed("innodb-buffer-pool-size", "32M");
        }

        /** The command that serves a copy of an empty server. */
        final List<String> serve(List<String> command, Path template, Path directory, int port) {
            Trees.copy(template.resolve("data"), directory.resolve("data"));
            command.add("--port=" + port);
            command.add("--socket=" + directory.resolve("socket"));
            command.add("--pid-file=" + directory.resolve("pid"));
            command.add("--skip-name-resolve");
            options.forEach((name, value) -> command.add("--" + name + "=" + value));
            return command;
        }
    }

    static List<String> command(Path home, String program, Path directory) {
        List<String> command = new ArrayList<>(List.of(
                home.resolve(program).toString(),
                "--no-defaults",
                "--basedir=" + home,
                "--datadir=" + directory.resolve("data"),
                "--tmpdir=" + directory,
                "--lc-messages-dir=" + home.resolve("share")));
        if (Unprivileged.here() != Unprivileged.AS_WE_ARE) {
            command.add("--user=root"); // refuses to run as root without this
        }
        return command;
    }
}
