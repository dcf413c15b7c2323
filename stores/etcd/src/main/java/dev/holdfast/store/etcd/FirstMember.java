package dev.holdfast.store.etcd;

import dev.holdfast.store.etcd.rpc.EtcdClient;
import dev.holdfast.store.etcd.rpc.Range;
import java.time.Duration;

/**
 * Keeps a client to the member that it has chosen. When it had to turn to another one, it tries that member once in a
 * while and returns when it answers: otherwise all clients would be at the same member after a rolling restart.
 */
final class FirstMember {

    /** A member that is left soon after each return is tried again after a pause doubled so often at most. */
    private static final int MOST_DOUBLINGS = 5;

    private final EtcdClient client;
    private final StoreThreads threads;
    private final Range probe;
    private final Duration pause;

    /** Of one look at a time, each of which happens before the next. */
    private int returns;

    private FirstMember(EtcdClient client, StoreThreads threads, Range probe, Duration pause) {
        this.client = client;
        this.threads = threads;
        this.probe = probe;
        this.pause = pause;
    }

    /**
     * Does so until the threads end.
     *
     * @param probe what is read to see whether the member answers
     * @param pause the time between two tries
     */
    static void keepTo(EtcdClient client, StoreThreads threads, Range probe, Duration pause) {
        if (client.endpoints() > 1) {
            new FirstMember(client, threads, probe, pause).lookLater();
        }
    }

    private void lookLater() {
        var unused = threads.after(pause.multipliedBy(1L << returns), this::look);
    }

    private void look() {
        if (client.usesFirstMember()) {
            returns = 0;
            lookLater();
            return;
        }
        var unused = client.returnToFirstMember(probe).whenComplete((done, failure) -> {
            if (failure == null) {
                returns = Math.min(returns + 1, MOST_DOUBLINGS);
            }
            lookLater();
        });
    }
}
