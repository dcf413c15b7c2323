package com.example.sqlite;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.spi.LockStore;
import dev.holdfast.store.sqlite.SqliteStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Opens one file twice, by its class and by a URI: who comes second is kept out, and gets a later token afterwards. */
public final class Program {

    public static void main(String... arguments) throws Exception {
        Path here = Path.of("").toAbsolutePath();
        Path file = Files.createTempDirectory(here, "locks").resolve("locks.db");
        try (LockStore store = SqliteStore.open(file);
                Holdfast one = Holdfast.builder(store).build();
                Holdfast other = Holdfast.connect("sqlite://" + file)) {
            long token;
            try (Hold hold = one.lock("nightly-report").acquire(Duration.ofMinutes(1))) {
                token = hold.fencingToken();
                if (other.lock("nightly-report").tryAcquire().isPresent()) {
                    throw new AssertionError("two hold the lock");
                }
            }
            try (Hold hold = other.lock("nightly-report").acquire(Duration.ofMinutes(1))) {
                if (hold.fencingToken() <= token) {
                    throw new AssertionError(hold.fencingToken() + " after " + token);
                }
                System.out.println("held with token " + hold.fencingToken());
            }
        }
    }
}
