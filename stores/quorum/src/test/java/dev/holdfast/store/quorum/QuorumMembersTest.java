package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What a quorum makes of members that answer late, or never, or have forgotten: each rule with members that do just
 * that. Attempts, leases and releases have tests of their own.
 */
class QuorumMembersTest extends ScriptedQuorum {

    // ---- Majorities

    @Test
    @Tag("Q1")
    @DisplayName("Q1: two of three are a majority, one is none though nobody else answers")
    void majorityIsOfAllMembers() {
        assertThat(isGrantedByOneOfThree()).isFalse();
        assertThat(a.names()).as("what the one that answered has left").isEmpty();
        with(new QuorumRules() {
            @Override
            int majority(int all, int reached) {
                return 1;
            }
        });
        assertThat(isGrantedByOneOfThree())
                .as("by a quorum that is content with one")
                .isTrue();
    }

    private boolean isGrantedByOneOfThree() {
        SessionId session = session();
        b.cutOff();
        c.cutOff();
        boolean granted = isGranted(acquire("ledger", session));
        time.advance(MEMBER_TIMEOUT);
        return granted;
    }

    @Test
    @Tag("Q2")
    @DisplayName("Q2: a minority that does not answer delays no command")
    void silentMinorityDelaysNobody() {
        SessionId session = session();
        b.cutOff();
        keptAlive(session);
        Command.Acquire first = acquire("ledger", session);
        assertThat(token(first)).isPositive();
        assertThat(answered(send(new Command.Poll(List.of(first.claim()))))).isInstanceOf(Reply.Polled.class);
        release(first);
        assertThat(token(acquire("other", session))).isPositive();
        assertThat(answered(send(new Command.CloseSession(session)))).isInstanceOf(Reply.Done.class);
    }

    @Test
    @Tag("Q1")
    @DisplayName("Q1: a hold outlives the loss of a minority's data, and its owner is told when a majority has lost it")
    void holdIsAMajority() {
        SessionId session = session();
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        a.losesItsData();
        assertThat(state(acquired)).isInstanceOf(Reply.Granted.class);
        assertThat(signals).isEmpty();
        b.losesItsData();
        assertThat(state(acquired)).isInstanceOf(Reply.Absent.class);
        assertThat(signals).containsExactly("revoked ledger");
    }

    @Test
    @Tag("Q1")
    @DisplayName("Q1: the owner is told of a loss before what a member still has of it is given up")
    void ownerIsToldBeforeTheRestIsGivenUp() {
        SessionId session = session();
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        a.losesItsData();
        b.losesItsData();
        c.listen(command -> {
            if (command instanceof Command.Release || command instanceof Command.CloseSession) {
                signals.add(command.getClass().getSimpleName());
            }
        });
        assertThat(keptAlive(session)).isInstanceOf(Reply.SessionEnded.class);
        assertThat(signals).startsWith("revoked ledger", "Release", "ended", "CloseSession");
        assertThat(c.names()).isEmpty();
    }

    @Test
    @Tag("Q1")
    @DisplayName("Q1: what a member reports as revoked is checked at once, and lost if a majority lacks it")
    void memberReportsALoss() {
        List<ClaimRef> atA = new ArrayList<>();
        List<ClaimRef> atB = new ArrayList<>();
        List<Command> polls = new ArrayList<>();
        SessionId session = session();
        collect(a, atA, polls);
        collect(b, atB, polls);
        for (String name : List.of("ledger", "other")) {
            assertThat(isGranted(acquire(name, session))).isTrue();
        }
        a.pushes(new Signal.SessionEnded(new SessionId("another")));
        a.pushes(new Signal.Revoked(new ClaimRef(new ResourceName("ledger"), new SessionId("another"), 1)));
        assertThat(polls).isEmpty();
        a.forcesRelease("ledger");
        a.pushes(new Signal.Revoked(atA.get(0)));
        assertThat(polls).as("about the ledger").hasSize(2);
        assertThat(signals).isEmpty();
        b.forcesRelease("ledger");
        b.pushes(new Signal.Revoked(atB.get(0)));
        assertThat(signals).containsExactly("revoked ledger");
        assertThat(c.names()).containsExactly("other");
    }

    @Test
    @Tag("Q1")
    @DisplayName("Q1: so is what a member reports whose session ids no other member has handed out")
    void memberWithSessionIdsOfItsOwnReportsALoss() {
        a = member(Duration.ofMillis(1));
        b = member(Duration.ofMillis(2));
        c = member(Duration.ofMillis(3));
        store = quorum(new QuorumRules());
        List<ClaimRef> atA = new ArrayList<>();
        List<ClaimRef> atB = new ArrayList<>();
        List<Command> polls = new ArrayList<>();
        SessionId session = session();
        collect(a, atA, polls);
        collect(b, atB, polls);
        assertThat(isGranted(acquire("ledger", session))).isTrue();
        assertThat(atA).doesNotContainAnyElementsOf(atB);
        a.forcesRelease("ledger");
        a.pushes(new Signal.Revoked(atA.get(0)));
        assertThat(polls).hasSize(2);
        assertThat(signals).isEmpty();
        b.forcesRelease("ledger");
        b.pushes(new Signal.Revoked(atB.get(0)));
        assertThat(signals).containsExactly("revoked ledger");
        assertThat(c.names()).isEmpty();
    }

    private static void collect(ScriptedMember member, List<ClaimRef> claims, List<Command> polls) {
        member.listen(command -> {
            if (command instanceof Command.Acquire acquire) {
                claims.add(acquire.claim());
            } else if (command instanceof Command.Poll) {
                polls.add(command);
            }
        });
    }

    // ---- Changes and polls

    @Test
    @Tag("Q3")
    @DisplayName("Q3: a detached hold is not lost because no majority confirms it")
    void unconfirmedDetachedHold() {
        Command.Acquire detached = acquire("ledger", session(), Lease.detached(LONGEST));
        assertThat(isGranted(detached)).isTrue();
        b.cutOff();
        c.cutOff();
        time.advance(TTL.plus(MOMENT));
        CompletableFuture<Reply> unknown = send(new Command.Poll(List.of(detached.claim())));
        time.advance(MEMBER_TIMEOUT);
        assertThat(unknown).isCompletedExceptionally();
        assertThat(signals).isEmpty();
    }

    @Test
    @Tag("Q2")
    @DisplayName("Q2: an extension is what a majority has made, and is unknown without one")
    void extension() {
        SessionId session = session();
        Command.Acquire bounded = acquire("ledger", session, Lease.bounded(Duration.ofSeconds(10)));
        assertThat(isGranted(bounded)).isTrue();
        c.cutOff();
        assertThat(answered(send(new Command.Extend(bounded.claim(), 1, Duration.ofSeconds(15)))))
                .isEqualTo(new Reply.Extended(1, Duration.ofSeconds(15)));
        b.cutOff();
        CompletableFuture<Reply> unknown = send(new Command.Extend(bounded.claim(), 2, Duration.ofSeconds(12)));
        assertThat(unknown).as("while two may still make it").isNotDone();
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        assertThatEffectIsUnknown(unknown);
    }

    @Test
    @Tag("Q1")
    @DisplayName("Q1: an extension of a hold that a majority no longer has is Absent, and the owner is told")
    void extensionOfALostHold() {
        Command.Acquire bounded = acquire("ledger", session(), Lease.bounded(Duration.ofSeconds(10)));
        assertThat(isGranted(bounded)).isTrue();
        a.forcesRelease("ledger");
        b.forcesRelease("ledger");
        assertThat(answered(send(new Command.Extend(bounded.claim(), 1, Duration.ofSeconds(15)))))
                .isInstanceOf(Reply.Absent.class);
        assertThat(signals).containsExactly("revoked ledger");
        assertThat(c.names()).isEmpty();
    }

    @Test
    @Tag("Q3")
    @DisplayName("Q3: a hold that no majority confirms is lost when its last lease has expired, and not before")
    void unconfirmedHold() {
        Command.Acquire acquired = acquire("ledger", session());
        assertThat(isGranted(acquired)).isTrue();
        time.advance(Duration.ofSeconds(5));
        keptAlive(acquired.claim().session());
        b.cutOff();
        c.cutOff();
        Duration last = TTL.minus(TTL.dividedBy(10));
        time.advance(last.minus(MEMBER_TIMEOUT));
        CompletableFuture<Reply> unknown = send(new Command.Poll(List.of(acquired.claim())));
        time.advance(MEMBER_TIMEOUT);
        assertThat(unknown).isCompletedExceptionally();
        assertThat(signals).isEmpty();
        time.advance(MOMENT.multipliedBy(2));
        CompletableFuture<Reply> lost = send(new Command.Poll(List.of(acquired.claim())));
        assertThat(lost).as("while two may still confirm it").isNotDone();
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        assertThat(((Reply.Polled) answered(lost)).states()).containsExactly(new Reply.Absent());
        assertThat(signals).containsExactly("revoked ledger");
    }

    @Test
    @Tag("Q6")
    @DisplayName("Q6: no detached lease is longer than the time for which a member without its data is kept out")
    void detachedLeaseIsLimited() {
        SessionId session = session();
        Duration tooLong = LONGEST.plusMillis(1);
        assertThat(answered(send(acquire("other", session, Lease.detached(tooLong)))))
                .isInstanceOf(Reply.Unsupported.class);
        Command.Acquire detached = acquire("ledger", session, Lease.detached(LONGEST));
        assertThat(isGranted(detached)).isTrue();
        assertThat(send(new Command.Extend(detached.claim(), 1, tooLong))).isCompletedExceptionally();
        assertThat(answered(send(new Command.Extend(detached.claim(), 2, LONGEST))))
                .isEqualTo(new Reply.Extended(2, LONGEST));
        Command.Acquire bounded = acquire("bounded", session, Lease.bounded(LONGEST));
        assertThat(isGranted(bounded)).isTrue();
        assertThat(answered(send(new Command.Extend(bounded.claim(), 1, tooLong))))
                .as("of a lease that ends with its session")
                .isInstanceOf(Reply.Extended.class);
    }

    @Test
    @DisplayName("A keep-alive is stale if it is to a majority, and not if it is to one member")
    void staleKeepAlive() {
        SessionId session = session();
        becomesStale(c, session, 1L << 50);
        assertThat(keptAlive(session)).isInstanceOf(Reply.SessionAlive.class);
        becomesStale(b, session, 1L << 50);
        becomesStale(c, session, 1L << 50);
        a.keepsAnswers(command -> command instanceof Command.KeepAlive);
        CompletableFuture<Reply> reply = send(new Command.KeepAlive(session, 0));
        assertThat(reply).isNotDone();
        a.letGo();
        assertThat(answered(reply)).isInstanceOf(Reply.Stale.class);
    }

    @Test
    @DisplayName("A member that has seen a higher epoch of a session renews it again after some keep-alives")
    void staleMemberIsRenewed() {
        SessionId session = session();
        // The outcome of a request is unknown, so the epoch is raised at this member alone.
        c.keepsCommands(Command.Acquire.class::isInstance);
        assertThat(isGranted(acquire("ledger", session))).isTrue();
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        becomesStale(c, session, 1_000);
        for (int i = 0; i < 10; i++) {
            assertThat(keptAlive(session)).isInstanceOf(Reply.SessionAlive.class);
        }
        a.cutOff();
        assertThat(keptAlive(session)).as("by the two others").isInstanceOf(Reply.SessionAlive.class);
    }

    /** The member has seen a higher epoch of the session than this connection knows of. */
    private void becomesStale(ScriptedMember member, SessionId session, long epoch) {
        List<SessionId> there = new ArrayList<>();
        member.listen(command -> {
            if (command instanceof Command.KeepAlive renewed) {
                there.add(renewed.session());
            }
        });
        keptAlive(session);
        member.listen(command -> {});
        assertThat(member.execute(new Command.KeepAlive(there.get(0), epoch), CallerMode.ASYNC))
                .isCompleted();
    }

    // ---- Lost data

    @Test
    @Tag("Q6")
    @DisplayName("Q6: a member that has lost its data makes no second majority, for the longest lease and a tenth more")
    void memberThatHasLostItsDataIsKeptOut() {
        assertThat(isSecondOwnerMade(new QuorumRules())).isFalse();
        assertThat(isSecondOwnerMade(new QuorumRules() {
                    @Override
                    Duration keptOut(Duration longestLease) {
                        return Duration.ZERO;
                    }
                }))
                .as("by a quorum that takes it back at once")
                .isTrue();
    }

    private boolean isSecondOwnerMade(QuorumRules rules) {
        with(rules);
        SessionId owner = session();
        c.cutOff();
        assertThat(isGranted(acquire("ledger", owner))).isTrue();
        // The third never had it, and now the second has forgotten it.
        c.dropKept();
        c.comeBack();
        b.losesItsData();
        return isGranted(acquire("ledger", session()));
    }

    @Test
    @Tag("Q6")
    @DisplayName("Q6: and counts again after that")
    void memberThatHasLostItsDataCountsAgain() {
        SessionId session = session();
        b.losesItsData();
        assertThat(keptAlive(session)).isInstanceOf(Reply.SessionAlive.class);
        keptAlive(session);
        a.cutOff();
        Duration keptOut = LONGEST.plus(LONGEST.dividedBy(10));
        Duration passed = Duration.ZERO;
        int tried = 0;
        while (passed.compareTo(keptOut) < 0) {
            assertThat(isGranted(acquire("try/" + ++tried, session)))
                    .as("after %s", passed)
                    .isFalse();
            time.advance(Duration.ofSeconds(2));
            passed = passed.plus(Duration.ofSeconds(2)).plus(MEMBER_TIMEOUT).plus(MOMENT);
            keptAlive(session);
        }
        time.advance(MOMENT);
        keptAlive(session);
        assertThat(isGranted(acquire("try/last", session))).isTrue();
    }
}
