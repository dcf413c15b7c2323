package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Locks that one session of a store holds, as many as a test wants. */
public final class HeldLocks {

    private static final long PATIENCE_SECONDS = 120;

    /** As many as a client asks for with each request of an audit. */
    private static final int PAGE = 10_000;

    /** How many acquisitions are sent at once. */
    private static final int BATCH = 500;

    private final LockStore store;
    private final SessionId session;
    private final Set<ClaimRef> claims = new HashSet<>();

    private HeldLocks(LockStore store, SessionId session) {
        this.store = store;
        this.session = session;
    }

    /** Acquires some locks with names of common length. */
    public static HeldLocks acquire(LockStore store, int count) throws Exception {
        Reply.SessionOpened opened =
                (Reply.SessionOpened) answer(store, new Command.OpenSession(Duration.ofMinutes(10), "holder"));
        HeldLocks held = new HeldLocks(store, opened.session());
        for (int from = 1; from <= count; from += BATCH) {
            List<CompletableFuture<Reply>> replies = new ArrayList<>();
            for (int i = from; i < Math.min(from + BATCH, count + 1); i++) {
                replies.add(held.acquire(i));
            }
            for (CompletableFuture<Reply> reply : replies) {
                assertThat(reply.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(Reply.Granted.class);
            }
        }
        return held;
    }

    private CompletableFuture<Reply> acquire(int number) {
        ClaimRef claim = new ClaimRef(new ResourceName("orders/europe/" + number + "/invoice"), session, number);
        claims.add(claim);
        return store.execute(
                        new Acquire(claim, 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.TRY, 1),
                        CallerMode.ASYNC)
                .toCompletableFuture();
    }

    /** Makes one audit, as a client does once in a ttl, and checks that it names each lock once. */
    public void audit() throws Exception {
        List<ClaimRef> found = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            Reply.Audited page = (Reply.Audited) answer(store, new Command.Audit(session, cursor, PAGE));
            found.addAll(page.granted());
            cursor = page.cursor();
        } while (cursor.isPresent());
        assertThat(found).hasSameSizeAs(claims);
        assertThat(new HashSet<>(found)).isEqualTo(claims);
    }

    /** Renews the session. */
    public void keepAlive() throws Exception {
        assertThat(answer(store, new Command.KeepAlive(session, 0))).isEqualTo(new Reply.SessionAlive());
    }

    /** What is counted. */
    @FunctionalInterface
    public interface Call {
        void run() throws Exception;
    }

    /**
     * Counts the requests of a call: of several calls the fewest, since the client may clean up meanwhile.
     *
     * @param requests how many the server has had
     * @param most as few are enough
     */
    public static long requestsOf(Call call, LongSupplier requests, long most) throws Exception {
        long start = System.nanoTime();
        long fewest = Long.MAX_VALUE;
        while (fewest > most && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
            long before = requests.getAsLong();
            call.run();
            fewest = Math.min(fewest, requests.getAsLong() - before);
        }
        return fewest;
    }

    private static Reply answer(LockStore store, Command command) throws Exception {
        return store.execute(command, CallerMode.ASYNC).toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
}
