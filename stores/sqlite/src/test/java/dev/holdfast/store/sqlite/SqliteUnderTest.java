package dev.holdfast.store.sqlite;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.testkit.StoreUnderTest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Two stores on a new file. */
final class SqliteUnderTest implements StoreUnderTest {

    private final Path directory;
    private final Optional<ManualTime> time;
    private final SqliteStore first;
    private final SqliteStore second;

    SqliteUnderTest(Optional<ManualTime> time, UnaryOperator<SqliteStore.Builder> options) throws IOException {
        this.directory = Files.createTempDirectory("holdfast-sqlite");
        this.time = time;
        this.first = open(options);
        this.second = open(options);
    }

    private SqliteStore open(UnaryOperator<SqliteStore.Builder> options) {
        SqliteStore.Builder builder = SqliteStore.builder(directory.resolve("locks.db"));
        time.ifPresent(builder::clock);
        return options.apply(builder).open();
    }

    @Override
    public LockStore first() {
        return first;
    }

    @Override
    public LockStore second() {
        return second;
    }

    @Override
    public Optional<ManualClock> clock() {
        return time.map(clock -> clock);
    }

    @Override
    public Duration shortTtl() {
        return Duration.ofMillis(500);
    }

    @Override
    public boolean forgetIdle() {
        if (time.isEmpty()) {
            return false;
        }
        time.get().stepWall(Micros.duration(SqliteHousekeeping.RETENTION_MICROS + 1));
        first.housekeeping().run();
        return true;
    }

    @Override
    public boolean damage(ResourceName name) {
        Database.run(
                directory.resolve("locks.db"),
                "UPDATE holdfast_resource SET capacity = 0 WHERE name = CAST('" + name.value() + "' AS BLOB)");
        return true;
    }

    @Override
    public void close() {
        first.close();
        second.close();
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> {
                try {
                    Files.delete(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
