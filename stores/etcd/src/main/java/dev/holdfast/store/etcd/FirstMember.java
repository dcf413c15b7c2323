package dev.holdfast.store.etcd;

import dev.holdfast.store.etcd.rpc.EtcdClient;
import dev.holdfast.store.etcd.rpc.Range;
import java.time.Duration;

/**
 * Returns a client to its preferred member. After a change to another member it probes the preferred one now and then,
 * and returns when that answers. Otherwise all clients would use one member after a rolling restart.
 */
final class FirstMember {

    /** The pause before a return doubles at most this many times while the member fails soon after each return. */
    private static final int MOST_DOUBLINGS = 5;

    private final EtcdClient client;
    private final StoreThreads threads;
    private final Range probe;
    private final Duration pause;

    /** Used by one probe at a time; each happens before the next. */
    private int returns;

    private FirstMember(EtcdClient client, StoreThreads threads, Range probe, Duration pause) {
        this.client = client;
        this.threads = threads;
        this.probe = probe;
        this.pause = pause;
    }

    /**
     * Begins to do so, until the threads end.
     *
     * @param probe the read that shows whether the member answers
     * @param pause the time between two probes
     */
    static void keepTo(EtcdClient client, StoreThreads threads, Range probe, Duration pause) {
        if (client.endpointCount() > 1) {
            new FirstMember(client, threads, probe, pause).checkLater();
        }
    }

    private void checkLater() {
        var unused = threads.after(pause.multipliedBy(1L << returns), this::check);
    }

    private void check() {
        if (client.usesFirstMember()) {
            returns = 0;
            checkLater();
            return;
        }
        var unused = client.returnToFirstMember(probe).whenComplete((done, failure) -> {
            if (failure == null) {
                returns = Math.min(returns + 1, MOST_DOUBLINGS);
            }
            checkLater();
        });
    }
}
