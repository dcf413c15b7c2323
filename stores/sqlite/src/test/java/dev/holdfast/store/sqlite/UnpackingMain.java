package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;
import java.nio.file.Path;

/** Opens a store whose driver unpacks its native code into another directory, and reports the result. */
final class UnpackingMain {

    private UnpackingMain() {}

    public static void main(String[] args) {
        System.setProperty("org.sqlite.tmpdir", args[0]);
        try (SqliteStore store = SqliteStore.open(Path.of(args[1]))) {
            System.out.println("opened " + store.traits().product());
        } catch (StoreException e) {
            System.out.println(e.reason() + ": " + e.getMessage());
        }
    }
}
