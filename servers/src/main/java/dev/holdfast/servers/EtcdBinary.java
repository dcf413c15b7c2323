package dev.holdfast.servers;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Finds the program of etcd, which no library has: the one named by the system property {@code holdfast.etcd.bin} or
 * the environment variable {@code HOLDFAST_ETCD_BIN}, otherwise {@code etcd} on the path, otherwise a copy of Debian's
 * that was fetched earlier or, with apt and dpkg, is fetched now. Nothing is installed.
 */
final class EtcdBinary {

    private static final String PROPERTY = "holdfast.etcd.bin";
    private static final String VARIABLE = "HOLDFAST_ETCD_BIN";

    private static final DebianProgram DEBIAN = new DebianProgram("etcd", "trixie", "usr/bin/etcd");

    private EtcdBinary() {}

    /** Searched once in a JVM. */
    private static final class Found {
        static final Optional<Path> PROGRAM = LocalBinaries.at(PROPERTY, VARIABLE)
                .or(() -> DebianProgram.onThePath("etcd"))
                .or(DEBIAN::fetchedEarlier)
                .or(DEBIAN::fetched);

        private Found() {}
    }

    /** The program; empty if it can't be found or fetched. */
    static Optional<Path> find() {
        return Found.PROGRAM;
    }

    /** The program. */
    static Path program() {
        return find().orElseThrow(() -> new IllegalStateException("There is no etcd; its tests carry @NeedsEtcd"));
    }

    /** The output of its help. */
    static String help() {
        return Help.TEXT;
    }

    /** Read once in a JVM. */
    private static final class Help {
        static final String TEXT = Command.output(program().toString(), "--help");

        private Help() {}
    }
}
