package dev.holdfast.sql.rows;

import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.servers.sql.GoodHold;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.store.sqlite.SqliteStore;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;

/** A process that acquires the lock, is paused for longer than its lease, and then writes without noticing. */
final class PausedHolderMain {

    private PausedHolderMain() {}

    /** @param args the file of the locks; the URL of the database is on the first input line */
    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        String database = lines.readLine();
        try (Holdfast holdfast = Holdfast.builder(SqliteStore.open(Path.of(args[0])))
                        .sessionTtl(Duration.ofSeconds(1))
                        .build();
                Connection connection = DriverManager.getConnection(database)) {
            connection.setAutoCommit(false);
            // The last check before it is paused, which still succeeds.
            GoodHold good = GoodHold.acquired(holdfast, "ledger");
            String id = good.hold().holdId();
            System.out.println("holding");
            lines.readLine();
            System.out.println(write(connection, good.token(), id));
        } catch (LockLostException e) {
            // Closing reports it too; the write has been rejected long before.
        }
    }

    private static String write(Connection connection, long token, String id) throws SQLException {
        try {
            FenceGuard.usual().check(connection, "ledger", token, id);
            save(connection, "written by the first");
            return "written";
        } catch (StaleTokenException e) {
            connection.rollback();
            return "refused: " + (e.token() < e.newest());
        }
    }

    /** The write of both processes. */
    static void save(Connection connection, String text) throws SQLException {
        TestSource.execute(connection, "UPDATE ledger SET entry = '" + text + "'");
        connection.commit();
    }
}
