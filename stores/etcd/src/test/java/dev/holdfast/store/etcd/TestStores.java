package dev.holdfast.store.etcd;

import dev.holdfast.Holdfast;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Stores for tests, with time for a machine that is busy with something else. */
final class TestStores {

    private TestStores() {}

    static EtcdStore.Builder at(String... endpoints) {
        return patient(EtcdStore.builder(endpoints));
    }

    static EtcdStore.Builder patient(EtcdStore.Builder builder) {
        return builder.requestTimeout(Duration.ofSeconds(30)).connectTimeout(Duration.ofMinutes(1));
    }

    /** A client with sessions of this ttl. */
    static Holdfast client(String endpoints, Duration ttl) {
        return Holdfast.builder("etcd://" + endpoints + "?timeout=PT30S&connectTimeout=PT1M")
                .sessionTtl(ttl)
                .build();
    }

    /** A client that turns soon from a member that does not answer. */
    static Holdfast hasty(String endpoints, Duration ttl) {
        return Holdfast.builder("etcd://" + endpoints + "?timeout=PT2S")
                .sessionTtl(ttl)
                .build();
    }

    static void until(String what, BooleanSupplier isSo) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!isSo.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("It did not come about that " + what);
            }
            LockSupport.parkNanos(10_000_000);
        }
    }
}
