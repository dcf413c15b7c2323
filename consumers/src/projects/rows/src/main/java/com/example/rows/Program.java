package com.example.rows;

import dev.holdfast.sql.rows.RowLocks;
import dev.holdfast.sql.rows.RowTables;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import org.sqlite.SQLiteDataSource;

/** Locks a name inside of a transaction of its own, without any store: nothing of one comes along. */
public final class Program {

    public static void main(String... arguments) throws Exception {
        Path here = Path.of("").toAbsolutePath();
        Path file = Files.createTempDirectory(here, "rows").resolve("shop.db");
        SQLiteDataSource source = new SQLiteDataSource();
        source.setUrl("jdbc:sqlite:" + file);
        RowTables.usual().createIfMissing(source);
        try (Connection one = source.getConnection();
                Connection other = source.getConnection()) {
            one.setAutoCommit(false);
            other.setAutoCommit(false);
            RowLocks.usual().lock(one, "nightly-report", Duration.ofMinutes(1));
            if (RowLocks.usual().tryLock(other, "nightly-report")) {
                throw new AssertionError("two have the lock");
            }
            one.commit();
            RowLocks.usual().lock(other, "nightly-report", Duration.ofMinutes(1));
            other.commit();
        }
        if (isThere("dev.holdfast.store.ledger.Ledger")) {
            throw new AssertionError("the ledger of stores came along");
        }
        System.out.println("locked a row");
    }

    private static boolean isThere(String name) {
        try {
            Class.forName(name);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
