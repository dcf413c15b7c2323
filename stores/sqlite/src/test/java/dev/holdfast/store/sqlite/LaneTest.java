package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.support.Batcher;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.sqlite.process.HostIdentity;
import dev.holdfast.store.sqlite.process.ProcFs;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The effect of failures that are rare on a real database. */
class LaneTest {

    private static final long CLIENT = 77;
    private static final int BUSY = 5;
    private static final int FULL = 13;
    private static final int IOERR = 10;

    @TempDir
    Path directory;

    /** A fault: the name of a method of the dialect, and when it fails. */
    private record Fault(String method, boolean afterwards, int code) {}

    private final Deque<Fault> faults = new ArrayDeque<>();
    private final List<LedgerTransaction.Notification> notifications = new ArrayList<>();
    private SqliteLane lane;
    private Batcher batcher;
    private SessionId session;

    @BeforeEach
    void open() {
        HostIdentity machine = HostIdentity.of(ProcFs.ROOT, SystemClock.nanoTime());
        StoreClock clock = HostClock.of(machine);
        SqliteFile file = SqliteFile.prepare(directory.resolve("locks.db"), false, ProcFs.ROOT);
        SqliteDatabase database = new SqliteConnections(file, new SqliteSchema(SqliteSchema.VERSIONS), machine, clock)
                .open(new SqliteOptions(
                        SqliteStore.Synchronous.NORMAL, Duration.ofMinutes(1), List.of(), UnaryOperator.identity()));
        SqliteClients clients = new SqliteClients(database.statements(), machine, new ProcFs(ProcFs.ROOT), CLIENT);
        Dialect real = new SqliteDialect(database, clients, new SplittableRandom(1), CLIENT, () -> true);
        lane = new SqliteLane(faulty(real), notifications::addAll);
        batcher = new Batcher(1, (command, lanes) -> 0, 8, true, Runnable::run, lane);
        session = ((Reply.SessionOpened) send(new Command.OpenSession(Duration.ofHours(1), "test"))).session();
    }

    @AfterEach
    void close() {
        lane.close();
    }

    private Dialect faulty(Dialect real) {
        return (Dialect) Proxy.newProxyInstance(
                Dialect.class.getClassLoader(), new Class<?>[] {Dialect.class}, (proxy, method, args) -> {
                    Fault fault = faults.peek();
                    boolean fails = fault != null && fault.method().equals(method.getName());
                    if (fails) {
                        faults.remove();
                    }
                    if (fails && !fault.afterwards()) {
                        throw new SQLException("fault", "", fault.code());
                    }
                    try {
                        Object result = method.invoke(real, args);
                        if (fails) {
                            throw new SQLException("fault", "", fault.code());
                        }
                        return result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @CanIgnoreReturnValue
    private Reply send(Command command) {
        return batcher.submit(command, CallerMode.BLOCKING)
                .toCompletableFuture()
                .join();
    }

    private ClaimRef ref(int number) {
        return new ClaimRef(new ResourceName("x"), session, number);
    }

    private Command.Acquire acquire(int number) {
        return new Command.Acquire(
                ref(number), 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.QUEUE, 1);
    }

    private void fails(Command command, Effect effect) {
        assertThatThrownBy(() -> send(command))
                .cause()
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.effect()).isEqualTo(effect));
        assertThat(faults).isEmpty();
    }

    @Test
    void aFailureBeforeTheCommitHasNoEffect() {
        faults.add(new Fault("begin", false, IOERR));
        fails(acquire(1), Effect.NONE);
        faults.add(new Fault("reserved", false, IOERR));
        fails(acquire(1), Effect.NONE);

        assertThat(send(acquire(2))).isInstanceOf(Reply.Granted.class);
    }

    @Test
    void onAFullDiskRoomIsMadeTwiceBeforeACommandFails() {
        for (String method : List.of("begin", "commit")) {
            faults.add(new Fault(method, false, FULL));
            faults.add(new Fault(method, false, FULL));
            assertThat(send(new Command.SetCount(new ResourceName("latch"), session, 0, 1, 2)))
                    .isInstanceOf(Reply.Count.class);
            assertThat(faults).isEmpty();
        }
        for (int i = 0; i < 3; i++) {
            faults.add(new Fault("commit", false, FULL));
        }
        fails(new Command.SetCount(new ResourceName("latch"), session, 0, 2, 2), Effect.UNKNOWN);
    }

    @Test
    void aCommitThatFailsLeavesTheEffectUnknown() {
        assertThat(send(acquire(1))).isInstanceOf(Reply.Granted.class);
        faults.add(new Fault("commit", false, IOERR));
        fails(acquire(2), Effect.UNKNOWN);
        faults.add(new Fault("commit", true, IOERR));
        fails(acquire(3), Effect.UNKNOWN);

        // One was committed and one was not: a retry shows which.
        assertThat(send(new Command.Release(ref(1)))).isInstanceOf(Reply.Released.class);
        assertThat(send(new Command.Poll(List.of(ref(2), ref(3)))))
                .isInstanceOfSatisfying(Reply.Polled.class, polled -> {
                    assertThat(polled.states().get(0)).isInstanceOf(Reply.Absent.class);
                    assertThat(polled.states().get(1)).isInstanceOf(Reply.Granted.class);
                });
    }

    @Test
    void whatIsNotCommittedIsNotTold() {
        assertThat(send(acquire(1))).isInstanceOf(Reply.Granted.class);
        assertThat(send(acquire(2))).isInstanceOf(Reply.Queued.class);
        faults.add(new Fault("commit", false, IOERR));
        fails(new Command.Release(ref(1)), Effect.UNKNOWN);
        assertThat(notifications).isEmpty();

        assertThat(send(new Command.Release(ref(1)))).isInstanceOf(Reply.Released.class);
        assertThat(notifications).singleElement().satisfies(one -> {
            assertThat(one.client()).isEqualTo(CLIENT);
            assertThat(one.signal())
                    .isInstanceOfSatisfying(
                            Signal.Granted.class,
                            granted -> assertThat(granted.claim()).isEqualTo(ref(2)));
        });
    }

    @Test
    void aBusyDatabaseIsTriedAgain() {
        for (String method : List.of("quick", "begin", "commit")) {
            faults.add(new Fault(method, false, BUSY));
        }
        assertThat(send(acquire(1))).isInstanceOf(Reply.Granted.class);
        assertThat(faults).isEmpty();
    }

    @Test
    void aBatchWhoseCommitFailsIsUnknownForAll() {
        assertThat(send(acquire(1))).isInstanceOf(Reply.Granted.class);
        Deque<Runnable> later = new ArrayDeque<>();
        Batcher gathering = new Batcher(1, (command, lanes) -> 0, 8, false, later::add, lane);
        List<CompletableFuture<Reply>> sent = new ArrayList<>();
        for (int i = 2; i < 5; i++) {
            sent.add(gathering.submit(acquire(i), CallerMode.ASYNC).toCompletableFuture());
        }
        faults.add(new Fault("commit", false, IOERR));

        later.remove().run();

        assertThat(sent)
                .allSatisfy(one -> assertThatThrownBy(one::join)
                        .cause()
                        .isInstanceOfSatisfying(
                                StoreException.class,
                                e -> assertThat(e.effect()).isEqualTo(Effect.UNKNOWN)));
        assertThat(send(new Command.Audit(session, Optional.empty(), 10)))
                .isInstanceOfSatisfying(
                        Reply.Audited.class,
                        audited -> assertThat(audited.waiting()).isEmpty());
    }

    @Test
    void commandsOfABatchSeeWhatTheSingleStatementsOfItHaveChanged() {
        Deque<Runnable> later = new ArrayDeque<>();
        Batcher gathering = new Batcher(1, (command, lanes) -> 0, 8, false, later::add, lane);
        // The first inserts the row, the second is a single statement, and the third never is.
        CompletableFuture<Reply> first =
                gathering.submit(acquire(1), CallerMode.ASYNC).toCompletableFuture();
        CompletableFuture<Reply> release =
                gathering.submit(new Command.Release(ref(1)), CallerMode.ASYNC).toCompletableFuture();
        Lease detached = Lease.detached(Duration.ofHours(1));
        CompletableFuture<Reply> second = gathering
                .submit(
                        new Command.Acquire(
                                ref(2), 0, Sending.FIRST, ResourceSpec.MUTEX, 1, detached, Waiting.QUEUE, 1),
                        CallerMode.ASYNC)
                .toCompletableFuture();

        later.remove().run();

        assertThat(first.join()).isInstanceOf(Reply.Granted.class);
        assertThat(release.join()).isInstanceOf(Reply.Released.class);
        assertThat(second.join()).isInstanceOf(Reply.Granted.class);
    }

    @Test
    void aPollSharesNoFateWithTheCommandsOfItsBatchThatWrite() {
        assertThat(send(acquire(1))).isInstanceOf(Reply.Granted.class);
        assertThat(send(acquire(2))).isInstanceOf(Reply.Queued.class);
        Deque<Runnable> later = new ArrayDeque<>();
        Batcher gathering = new Batcher(1, (command, lanes) -> 0, 8, false, later::add, lane);
        CompletableFuture<Reply> third =
                gathering.submit(acquire(3), CallerMode.ASYNC).toCompletableFuture();
        CompletableFuture<Reply> poll = gathering
                .submit(new Command.Poll(List.of(ref(2), ref(3))), CallerMode.ASYNC)
                .toCompletableFuture();
        CompletableFuture<Reply> release =
                gathering.submit(new Command.Release(ref(1)), CallerMode.ASYNC).toCompletableFuture();
        faults.add(new Fault("commit", false, IOERR));

        later.remove().run();

        assertThatThrownBy(third::join).cause().isInstanceOf(StoreException.class);
        assertThat(poll.join()).isInstanceOfSatisfying(Reply.Polled.class, polled -> {
            assertThat(polled.states().get(0)).isInstanceOf(Reply.Queued.class);
            assertThat(polled.states().get(1)).isInstanceOf(Reply.Absent.class);
        });
        assertThat(release.join()).isInstanceOf(Reply.Released.class);
    }

    @Test
    void countsOfALatchThatComeTogetherAreFlushedTogether() {
        ResourceName latch = new ResourceName("latch");
        send(new Command.SetCount(latch, session, 0, 1, 5));
        long before = flushes();
        Deque<Runnable> later = new ArrayDeque<>();
        Batcher gathering = new Batcher(1, (command, lanes) -> 0, 8, false, later::add, lane);
        List<CompletableFuture<Reply>> sent = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Command count = new Command.CountDown(latch, 1, "id-" + i, 1);
            sent.add(gathering.submit(count, CallerMode.ASYNC).toCompletableFuture());
        }

        later.remove().run();

        assertThat(sent.get(4).join()).isEqualTo(new Reply.Count(1, 0));
        assertThat(flushes()).isEqualTo(before + 1);
    }

    private long flushes() {
        return Database.number(directory.resolve("locks.db"), "SELECT flushes FROM holdfast_meta");
    }
}
