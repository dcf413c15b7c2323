package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;

/** The JDK's lock, which holds in one process only: for orientation. */
public enum Jdk implements Contestant {
    FAIR("jdk-fair"),
    UNFAIR("jdk-unfair");

    private final String title;

    Jdk(String title) {
        this.title = title;
    }

    @Override
    public String title() {
        return title;
    }

    @Override
    public Client connect(Path place) {
        ConcurrentMap<String, ReentrantLock> locks = new ConcurrentHashMap<>();
        return Client.of(
                name -> new LockMutex(locks.computeIfAbsent(name, unused -> new ReentrantLock(this == FAIR))),
                () -> {});
    }
}
