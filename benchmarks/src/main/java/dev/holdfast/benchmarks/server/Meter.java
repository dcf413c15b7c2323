package dev.holdfast.benchmarks.server;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The counters of a server, read on a connection of its own. */
public interface Meter extends AutoCloseable {

    /**
     * The counters since the server was started.
     *
     * @param operations commands and statements, also those that run inside of others, such as in scripts
     * @param commits transactions that wrote something, where there are any
     * @param cpuNanos its processor time
     */
    record Reading(double operations, double commits, double cpuNanos) {

        public Reading since(Reading before) {
            return new Reading(
                    operations - before.operations, commits - before.commits, Math.max(0, cpuNanos - before.cpuNanos));
        }
    }

    /** Reads the counters, without what the meter itself has sent. */
    Reading read();

    /** Observes what the server does for a while, without what the meter sends; this may slow the server down. */
    default Sample sample(Duration time) {
        Reading before = read();
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return new Sample(Math.round(read().since(before).operations()), 0);
    }

    /** Whether operations run inside of others, so that only a sample shows what clients sent. */
    default boolean nests() {
        return false;
    }

    /**
     * What the server did meanwhile.
     *
     * @param commands what clients sent
     * @param inner what ran inside of that
     */
    record Sample(long commands, long inner) {}

    @Override
    default void close() {}

    /** The meter of the server that was lent to a directory. */
    static Meter of(Servers.Kind kind, Path place) {
        return switch (kind) {
            case REDIS -> new RedisMeter(Servers.address(kind, place));
            case POSTGRESQL -> SqlMeter.onPostgresql(place);
            case MARIADB -> SqlMeter.onMariaDb(place);
            case ETCD -> new EtcdMeter(place);
            case ZOOKEEPER -> new ZooKeeperMeter(place);
        };
    }
}
