package dev.holdfast.benchmarks.server;

import java.nio.file.Path;

/** What MariaDB counts; nobody else must use the server. */
final class MariaDbMeter extends SqlMeter {

    /** The counter of transactions that wrote; it has to be switched on when the server is started. */
    static final String COMMITS = "trx_commits_insert_update";

    MariaDbMeter(Path place) {
        super(
                Database.at(Servers.Kind.MARIADB, place),
                "SELECT (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
                        + " WHERE VARIABLE_NAME = 'QUESTIONS'),"
                        + " (SELECT `COUNT` FROM information_schema.INNODB_METRICS WHERE NAME = '" + COMMITS + "')",
                Servers.pid(Servers.Kind.MARIADB, place));
    }

    /** A statement is counted when it begins. */
    @Override
    int counted(int before) {
        return before + 1;
    }
}
