package com.example.mariadb;

import dev.holdfast.Holdfast;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.jdbc.JdbcStore;
import java.sql.SQLException;
import org.mariadb.jdbc.MariaDbDataSource;

/** Tries to connect to a server that does not exist, by a URI and with its own data source. */
public final class Program {

    public static void main(String... arguments) throws SQLException {
        try (Holdfast holdfast = Holdfast.connect("mariadb://127.0.0.1:1/shop")) {
            throw new AssertionError(holdfast + " has found a server");
        } catch (StoreUnavailableException e) {
            expect("can't be reached", e);
        }
        MariaDbDataSource source = new MariaDbDataSource("jdbc:mariadb://127.0.0.1:1/shop");
        try (LockStore store = JdbcStore.builder(source).open()) {
            throw new AssertionError(store + " has found a server");
        } catch (StoreException e) {
            expect("can't be reached", e);
        }
    }

    private static void expect(String text, Exception failure) {
        if (!failure.getMessage().contains(text)) {
            throw new AssertionError("should say '" + text + "'", failure);
        }
        System.out.println(failure.getMessage());
    }
}
