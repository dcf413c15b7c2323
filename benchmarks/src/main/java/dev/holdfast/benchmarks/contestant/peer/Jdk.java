package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;

/** The JDK's lock, which excludes threads of one process only: for orientation. */
public final class Jdk {

    public static final Contestant FAIR = lock("jdk-fair", true);
    public static final Contestant UNFAIR = lock("jdk-unfair", false);

    private Jdk() {}

    private static Contestant lock(String title, boolean isFair) {
        return new Peer(title, place -> {
            ConcurrentMap<String, ReentrantLock> locks = new ConcurrentHashMap<>();
            return Contestant.Client.of(
                    name -> PeerMutex.of(locks.computeIfAbsent(name, unused -> new ReentrantLock(isFair))), () -> {});
        });
    }
}
