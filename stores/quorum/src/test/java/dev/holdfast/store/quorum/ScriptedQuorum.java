package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.test.ManualEnvironment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A quorum of three members that do what a test says, on a clock that stands still until the test moves it. */
abstract class ScriptedQuorum {

    static final Duration MEMBER_TIMEOUT = Duration.ofSeconds(1);
    static final Duration TTL = Duration.ofSeconds(20);
    static final Duration LONGEST = Duration.ofSeconds(30);
    static final Duration MOMENT = Duration.ofMillis(10);

    final ManualEnvironment time = new ManualEnvironment();
    final List<String> signals = new ArrayList<>();
    private final List<QuorumStore> open = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private Thread.@Nullable UncaughtExceptionHandler handler;
    private long claims;

    ScriptedMember a = member(Duration.ZERO);
    ScriptedMember b = member(Duration.ZERO);
    ScriptedMember c = member(Duration.ZERO);
    QuorumStore store = quorum(new QuorumRules());

    ScriptedMember member(Duration ahead) {
        return new ScriptedMember(() -> time.unixMicros().getAsLong() + ahead.toMillis() * 1_000);
    }

    QuorumStore quorum(QuorumRules rules) {
        return quorum(rules, LONGEST, a, b, c);
    }

    QuorumStore quorum(QuorumRules rules, Duration longestLease, ScriptedMember... members) {
        QuorumStore.Builder builder = QuorumStore.builder()
                .environment(time)
                .answerWithin(MEMBER_TIMEOUT)
                .longestLease(longestLease)
                .rules(rules);
        for (ScriptedMember member : members) {
            builder.member(member);
        }
        QuorumStore made = builder.open();
        made.subscribe(signal -> {
            if (signal instanceof Signal.Revoked revoked) {
                signals.add("revoked " + revoked.claim().resource());
            } else if (signal instanceof Signal.SessionEnded) {
                signals.add("ended");
            }
        });
        open.add(made);
        return made;
    }

    /** Starts over with a quorum that breaks a rule. */
    void with(QuorumRules rules) {
        a = member(Duration.ZERO);
        b = member(Duration.ZERO);
        c = member(Duration.ZERO);
        store = quorum(rules);
    }

    /** Lets a member that was cut off come back when it is waited for no longer; what was sent meanwhile is lost. */
    void comesBack(ScriptedMember member) {
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        member.dropKept();
        member.comeBack();
    }

    @BeforeEach
    void collectFailures() {
        handler = Thread.currentThread().getUncaughtExceptionHandler();
        Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> failures.add(failure));
    }

    @AfterEach
    void closeAll() {
        Thread.currentThread().setUncaughtExceptionHandler(handler);
        open.forEach(QuorumStore::close);
        time.close();
        assertThat(failures).as("what failed in an event").isEmpty();
    }

    // ---- What is asked

    CompletableFuture<Reply> send(Command command) {
        return store.execute(command, CallerMode.ASYNC).toCompletableFuture();
    }

    @CanIgnoreReturnValue
    SessionId session() {
        return ((Reply.SessionOpened) answered(send(new Command.OpenSession(TTL, "test")))).session();
    }

    @CanIgnoreReturnValue
    Reply keptAlive(SessionId session) {
        return answered(send(new Command.KeepAlive(session, 0)));
    }

    Command.Acquire acquire(String name, SessionId session, Lease lease) {
        return acquire(name, session, lease, 1);
    }

    Command.Acquire acquire(String name, SessionId session, Lease lease, int tokens) {
        return new Command.Acquire(
                new ClaimRef(new ResourceName(name), session, ++claims),
                0,
                Command.Sending.FIRST,
                ResourceSpec.MUTEX,
                1,
                lease,
                Command.Waiting.TRY,
                tokens);
    }

    Command.Acquire acquire(String name, SessionId session) {
        return acquire(name, session, Lease.SESSION);
    }

    /** The same, but it waits. */
    static Command.Acquire waits(Command.Acquire tried) {
        return new Command.Acquire(
                tried.claim(),
                tried.epoch(),
                tried.sending(),
                tried.spec(),
                tried.weight(),
                tried.lease(),
                Command.Waiting.QUEUE,
                tried.tokens());
    }

    /** Lets a session hold a lock at the first two members only; the third is back, without a trace of it. */
    @CanIgnoreReturnValue
    Command.Acquire heldAtTwo(SessionId owner) {
        c.cutOff();
        Command.Acquire acquired = acquire("ledger", owner);
        assertThat(isGranted(acquired)).isTrue();
        comesBack(c);
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
        assertThat(c.names()).isEmpty();
        return acquired;
    }

    static Reply answered(CompletableFuture<Reply> future) {
        assertThat(future).as("answered, though time stands still").isCompleted();
        return future.join();
    }

    /** Whether it is granted, now or when those that are silent are not waited for any longer. */
    boolean isGranted(Command.Acquire command) {
        CompletableFuture<Reply> future = done(command);
        return !future.isCompletedExceptionally() && future.join() instanceof Reply.Granted;
    }

    /** What is answered, now or when those that are silent are not waited for any longer. */
    Reply inTime(Command command) {
        return done(command).join();
    }

    private CompletableFuture<Reply> done(Command command) {
        CompletableFuture<Reply> future = send(command);
        if (!future.isDone()) {
            time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        }
        assertThat(future).isDone();
        return future;
    }

    long token(Command.Acquire command) {
        return ((Reply.Granted) answered(send(command))).tokens().first();
    }

    void release(Command.Acquire command) {
        assertThat(answered(send(new Command.Release(command.claim())))).isInstanceOf(Reply.Released.class);
    }

    Reply.ClaimReply state(Command.Acquire command) {
        return ((Reply.Polled) answered(send(new Command.Poll(List.of(command.claim())))))
                .states()
                .get(0);
    }

    static void assertThatEffectIsUnknown(CompletableFuture<Reply> future) {
        assertThat(future)
                .isCompletedExceptionally()
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        StoreException.class,
                        failure -> assertThat(failure.effect()).isEqualTo(StoreException.Effect.UNKNOWN));
    }

    static int[] countAcquiresAt(ScriptedMember member) {
        int[] count = new int[1];
        member.listen(command -> count[0] += command instanceof Command.Acquire ? 1 : 0);
        return count;
    }
}
