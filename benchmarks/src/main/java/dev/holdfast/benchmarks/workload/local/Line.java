package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.stream.IntStream;

/** Claims in the queue of a store, of several sessions in turn, without a client. For the use of one thread. */
final class Line implements AutoCloseable {

    /** Longer than any cell runs, so that nothing has to be kept alive. */
    private static final Duration TTL = Duration.ofHours(1);

    private final ResourceName name = new ResourceName("line");
    private final LockStore[] stores;
    private final SessionId[] sessions;

    /** The one that holds, and behind it those that wait. */
    private final Queue<ClaimRef> claims = new ArrayDeque<>();

    private long numbers;
    private long commands;
    private boolean isOutOfOrder;

    Line(Holdfasts which, Path place, int sessions) {
        this.stores = IntStream.range(0, sessions)
                .mapToObj(unused -> which.open(place))
                .toArray(LockStore[]::new);
        this.sessions = new SessionId[sessions];
        for (int i = 0; i < sessions; i++) {
            stores[i].subscribe(signal -> {});
            this.sessions[i] =
                    ((Reply.SessionOpened) send(stores[i], new Command.OpenSession(TTL, "waiter"))).session();
        }
    }

    /** Queues another claim; the first is granted. */
    void append() {
        int turn = (int) (++numbers % stores.length);
        ClaimRef claim = new ClaimRef(name, sessions[turn], numbers);
        Command acquire = new Command.Acquire(
                claim, 0, Command.Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Command.Waiting.QUEUE, 1);
        boolean isGranted = send(stores[turn], acquire) instanceof Reply.Granted;
        isOutOfOrder |= isGranted != claims.isEmpty();
        claims.add(claim);
    }

    /** Ends the grant, which admits the next, and queues another claim. */
    void handOver() {
        ClaimRef holder = claims.remove();
        LockStore store = stores[(int) (holder.claim() % stores.length)];
        // What is not held is not released: so this also says that the one at the head was admitted.
        isOutOfOrder |= !(send(store, new Command.Release(holder)) instanceof Reply.Released);
        append();
    }

    private Reply send(LockStore store, Command command) {
        commands++;
        return store.execute(command, CallerMode.BLOCKING).toCompletableFuture().join();
    }

    long commands() {
        return commands;
    }

    void check(Sheet sheet) {
        if (isOutOfOrder) {
            sheet.violation("the lock did not go to the head of the queue");
        }
    }

    @Override
    public void close() {
        for (LockStore store : stores) {
            store.close();
        }
    }
}
