package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.contestant.holdfast.StoreSession;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.stream.Stream;

/** Claims of several sessions in the queue of a store, without a client. For the use of one thread. */
final class ClaimQueue implements AutoCloseable {

    private final ResourceName name = new ResourceName("line");
    private final StoreSession[] sessions;

    /** The granted claim, and behind it those that wait. */
    private final Queue<ClaimRef> claims = new ArrayDeque<>();

    private long count;
    private long commands;
    private boolean isOutOfOrder;

    ClaimQueue(Holdfasts holdfast, Path place, int sessions) {
        this.sessions = Stream.generate(() -> StoreSession.open(holdfast.open(place)))
                .limit(sessions)
                .toArray(StoreSession[]::new);
    }

    private StoreSession session(long claim) {
        return sessions[(int) (claim % sessions.length)];
    }

    /** Queues another claim; the first one is granted. */
    void append() {
        ClaimRef claim = session(++count).claim(name, count);
        boolean isGranted = session(count).acquire(claim) instanceof Reply.Granted;
        commands++;
        isOutOfOrder |= isGranted != claims.isEmpty();
        claims.add(claim);
    }

    /** Ends the grant, which admits the next claim, and queues another one. */
    void handOver() {
        ClaimRef holder = claims.remove();
        // Only a granted claim can be released, so this also checks that the head was admitted.
        isOutOfOrder |= !session(holder.claim()).release(holder);
        commands++;
        append();
    }

    long commands() {
        return commands;
    }

    void check(Measurements measurements) {
        if (isOutOfOrder) {
            measurements.violation("the lock did not go to the head of the queue");
        }
    }

    @Override
    public void close() {
        for (StoreSession session : sessions) {
            session.close();
        }
    }
}
