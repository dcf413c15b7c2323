package dev.holdfast.store.sql;

import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.MariaDbServer;
import dev.holdfast.servers.MysqlServer;
import dev.holdfast.servers.SqlServer;

/** What tests of both run on: MariaDB, or a real MySQL where the build brings one, see its profile {@code mysql}. */
final class MariaDbOrMysql {

    private MariaDbOrMysql() {}

    static boolean isMysql() {
        return MysqlServer.isThere();
    }

    static LocalSqlServer start() {
        return isMysql() ? MysqlServer.start() : MariaDbServer.start();
    }

    /** With a system variable set, written as on the command line. */
    static LocalSqlServer start(String option, String value) {
        return isMysql()
                ? MysqlServer.builder().option(option, value).start()
                : MariaDbServer.builder().option(option, value).start();
    }

    static SqlServer shared() {
        return isMysql() ? MysqlServer.shared() : MariaDbServer.shared();
    }
}
