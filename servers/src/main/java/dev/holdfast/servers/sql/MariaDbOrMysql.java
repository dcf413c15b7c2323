package dev.holdfast.servers.sql;

import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.MariaDbServer;
import dev.holdfast.servers.MysqlServer;
import dev.holdfast.servers.SqlServer;

/** What tests of both run on: MariaDB, or a real MySQL where the build brings one, see its profile {@code mysql}. */
public final class MariaDbOrMysql {

    private MariaDbOrMysql() {}

    public static boolean isMysql() {
        return MysqlServer.isThere();
    }

    public static LocalSqlServer start() {
        return isMysql() ? MysqlServer.start() : MariaDbServer.start();
    }

    /** With a system variable set, written as on the command line. */
    public static LocalSqlServer start(String option, String value) {
        return isMysql()
                ? MysqlServer.builder().option(option, value).start()
                : MariaDbServer.builder().option(option, value).start();
    }

    public static SqlServer shared() {
        return isMysql() ? MysqlServer.shared() : MariaDbServer.shared();
    }
}
