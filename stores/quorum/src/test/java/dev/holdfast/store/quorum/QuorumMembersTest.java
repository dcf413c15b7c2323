package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What a quorum does when its members answer late, or never, or have forgotten: each rule with members that do just
 * that.
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

    // ---- Attempts

    /** Lets a session hold a lock at the first two members only; the third is back, without a trace of it. */
    @CanIgnoreReturnValue
    private Command.Acquire heldAtTwo(SessionId owner) {
        c.cutOff();
        Command.Acquire acquired = acquire("ledger", owner);
        assertThat(isGranted(acquired)).isTrue();
        comesBack(c);
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
        assertThat(c.names()).isEmpty();
        return acquired;
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a claim that waits leaves nothing at a member that would have granted it")
    void waitingClaimLeavesNothing() {
        Command.Acquire owner = heldAtTwo(session());
        Command.Acquire next = waits(acquire("ledger", session()));
        assertThat(answered(send(next))).isInstanceOf(Reply.Queued.class);
        assertThat(c.names()).isEmpty();
        release(owner);
        assertThat(state(next)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    @Tag("Q2")
    @DisplayName("Q2: a try is refused as soon as two members refuse it, and forgotten")
    void tryIsRefusedByTwo() {
        SessionId session = session();
        c.cutOff();
        assertThat(isGranted(acquire("ledger", session()))).isTrue();
        Command.Acquire tried = acquire("ledger", session);
        assertThat(answered(send(tried))).isInstanceOf(Reply.Refused.class);
        assertThat(state(tried)).isInstanceOf(Reply.Absent.class);
    }

    @Test
    @DisplayName("A try that gets only some of the members is repeated three times before it is refused")
    void splitTryIsRepeated() {
        heldAtTwo(session());
        int[] asked = countAcquiresAt(c);
        CompletableFuture<Reply> reply = send(acquire("ledger", session()));
        assertThat(reply).isNotDone();
        time.advance(MEMBER_TIMEOUT);
        assertThat(answered(reply)).isInstanceOf(Reply.Refused.class);
        assertThat(asked[0]).isEqualTo(4);
        assertThat(c.names()).isEmpty();
    }

    @Test
    @DisplayName(
            "A try that is to be repeated is granted when the holder has released, and fails if its session retires")
    void repeatedTry() {
        SessionId session = session();
        Command.Acquire owner = heldAtTwo(session());
        CompletableFuture<Reply> succeeds = send(acquire("ledger", session));
        release(owner);
        time.advance(MEMBER_TIMEOUT);
        assertThat(answered(succeeds)).isInstanceOf(Reply.Granted.class);
        keptAlive(session);
        c.forcesRelease("ledger");
        CompletableFuture<Reply> fails = send(acquire("ledger", session));
        assertThat(fails).isNotDone();
        assertThat(answered(send(new Command.Retire(session)))).isInstanceOf(Reply.Done.class);
        time.advance(MEMBER_TIMEOUT);
        assertThat(fails).isCompletedExceptionally();
    }

    @Test
    @DisplayName("Without a majority a try is forgotten, and a claim that waits is tried again")
    void claimsWithoutAMajority() {
        SessionId session = session();
        Command.Acquire tried = acquire("ledger", session);
        Command.Acquire waits = waits(acquire("ledger", session));
        b.cutOff();
        c.cutOff();
        assertThat(isGranted(tried)).isFalse();
        assertThat(isGranted(waits)).isFalse();
        assertThat(a.names()).isEmpty();
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        for (ScriptedMember member : List.of(b, c)) {
            member.dropKept();
            member.comeBack();
        }
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
        assertThat(state(tried)).isInstanceOf(Reply.Absent.class);
        assertThat(state(waits)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    @DisplayName("A claim of a session that a majority has ended is answered with that")
    void claimOfAnEndedSession() {
        SessionId session = session();
        a.losesItsData();
        b.losesItsData();
        assertThat(inTime(acquire("ledger", session))).isInstanceOf(Reply.SessionEnded.class);
        assertThat(c.names()).isEmpty();
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a member at which an earlier attempt is unsettled is not asked by the next")
    void memberWithAnUnsettledHoldIsNotAsked() {
        SessionId session = session();
        assertThat(isGranted(acquire("ledger", session()))).isTrue();
        c.cutOff();
        Command.Acquire waits = waits(acquire("ledger", session));
        assertThat(answered(send(waits))).isInstanceOf(Reply.Queued.class);
        int[] asked = countAcquiresAt(c);
        assertThat(state(waits)).isInstanceOf(Reply.Queued.class);
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        assertThat(state(waits)).isInstanceOf(Reply.Queued.class);
        assertThat(asked[0]).isZero();
    }

    @Test
    @Tag("Q1")
    @DisplayName("Q1: a member that grants after the majority counts from then on")
    void lateGrantCounts() {
        SessionId session = session();
        c.keepsAnswers(command -> command instanceof Command.Acquire);
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        c.comeBack();
        c.letGo();
        a.losesItsData();
        assertThat(state(acquired)).isInstanceOf(Reply.Granted.class);
        assertThat(signals).isEmpty();
    }

    @Test
    @Tag("Q1")
    @DisplayName("Q1: a hold is lost when too few members have it and the answer of another fails to come")
    void answerThatFailsToCome() {
        SessionId session = session();
        c.keepsCommands(command -> command instanceof Command.Acquire);
        assertThat(isGranted(acquire("ledger", session))).isTrue();
        a.losesItsData();
        keptAlive(session);
        assertThat(b.names()).as("while the third may still grant it").containsExactly("ledger");
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        assertThat(signals).contains("revoked ledger");
        assertThat(b.names()).isEmpty();
    }

    /** Leaves at the third member what another's try got there: the release does not come through. */
    private void leftAtTheThird() {
        Command.Acquire owner = heldAtTwo(session());
        c.keepsCommands(command -> command instanceof Command.Release);
        assertThat(isGranted(acquire("ledger", session()))).isFalse();
        release(owner);
        c.dropKept();
        assertThat(a.names()).isEmpty();
        assertThat(c.names()).containsExactly("ledger");
    }

    @Test
    @Tag("Q1")
    @DisplayName("Q1: a hold is lost when too few members have it and another refuses it late")
    void refusalThatComesLate() {
        SessionId session = session();
        leftAtTheThird();
        c.keepsCommands(command -> command instanceof Command.Acquire);
        assertThat(isGranted(acquire("ledger", session))).isTrue();
        a.losesItsData();
        keptAlive(session);
        assertThat(b.names()).as("while the third may still grant it").containsExactly("ledger");
        c.letGo();
        assertThat(signals).contains("revoked ledger");
        assertThat(b.names()).isEmpty();
    }

    @Test
    @Tag("Q2")
    @DisplayName("Q2: one refusal decides nothing while the rest may make a majority")
    void oneRefusalDecidesNothing() {
        SessionId session = session();
        leftAtTheThird();
        b.keepsAnswers(command -> command instanceof Command.Acquire);
        CompletableFuture<Reply> reply = send(acquire("ledger", session));
        assertThat(reply).isNotDone();
        b.letGo();
        assertThat(answered(reply)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    @Tag("Q2")
    @DisplayName("Q2: with one member out and one refusal, the third tells contention from failure")
    void refusalsWithoutOneMember() {
        SessionId session = session();
        assertThat(isGranted(acquire("ledger", session()))).isTrue();
        a.losesItsData();
        keptAlive(session);
        b.keepsAnswers(command -> command instanceof Command.Acquire);
        CompletableFuture<Reply> reply = send(acquire("ledger", session));
        assertThat(reply).isNotDone();
        b.letGo();
        assertThat(answered(reply)).isInstanceOf(Reply.Refused.class);
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a request that arrives after the client has raised its epoch gets nothing")
    void requestOfAnEarlierEpoch() {
        SessionId session = session();
        for (ScriptedMember member : List.of(b, c)) {
            member.keepsCommands(command -> command instanceof Command.Acquire);
        }
        CompletableFuture<Reply> reply = send(acquire("ledger", session));
        assertThat(answered(send(new Command.KeepAlive(session, 1)))).isInstanceOf(Reply.SessionAlive.class);
        b.letGo();
        c.letGo();
        assertThat(b.names()).isEmpty();
        assertThat(c.names()).isEmpty();
        assertThat(reply).isCompletedExceptionally();
    }

    @Test
    @Tag("Q1")
    @DisplayName("Q1: a grant of a member that has lost its data does not count for the attempt")
    void grantOfAMemberThatHasLostItsData() {
        SessionId session = session();
        b.keepsAnswers(command -> command instanceof Command.Acquire);
        c.keepsAnswers(command -> command instanceof Command.Acquire);
        CompletableFuture<Reply> reply = send(acquire("ledger", session));
        a.losesItsData();
        keptAlive(session);
        b.letGo();
        assertThat(reply).as("granted by one of the two that answered").isNotDone();
        c.letGo();
        assertThat(answered(reply)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a withdrawal ends what members have granted to the attempt, and what they grant after it")
    void withdrawalDuringAnAttempt() {
        SessionId session = session();
        b.keepsAnswers(command -> command instanceof Command.Acquire);
        c.keepsAnswers(command -> command instanceof Command.Acquire);
        Command.Acquire waits = waits(acquire("ledger", session));
        CompletableFuture<Reply> reply = send(waits);
        assertThat(a.names()).containsExactly("ledger");
        CompletableFuture<Reply> withdrawn = send(new Command.Withdraw(waits.claim(), Command.Sending.FIRST));
        assertThat(reply).isCompletedExceptionally();
        assertThat(a.names()).isEmpty();
        b.letGo();
        c.letGo();
        assertThat(answered(withdrawn)).isInstanceOf(Reply.Done.class);
        assertThat(b.names()).isEmpty();
        assertThat(c.names()).isEmpty();
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: an attempt that can ask no member fails at once")
    void attemptThatCanAskNobody() {
        SessionId session = session();
        List.of(a, b, c).forEach(ScriptedMember::cutOff);
        Command.Acquire waits = waits(acquire("ledger", session));
        assertThat(isGranted(waits)).isFalse();
        assertThat(send(new Command.Poll(List.of(waits.claim()))))
                .as("while the outcome of the first attempt is unknown at all of them")
                .isCompletedExceptionally();
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a request that certainly had no effect leaves nothing to settle")
    void failureWithoutAnEffect() {
        SessionId session = session();
        b.fails(command -> true);
        c.failsInAStage(command -> true);
        Command.Acquire waits = waits(acquire("ledger", session));
        assertThat(send(waits)).isCompletedExceptionally();
        for (ScriptedMember member : List.of(b, c)) {
            member.comeBack();
        }
        assertThat(state(waits)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    @Tag("Q2")
    @DisplayName("Q2: an attempt fails as soon as the end of a session leaves no majority within reach")
    void endOfASessionDecidesAnAttempt() {
        SessionId session = session();
        b.fails(Command.Acquire.class::isInstance);
        c.keepsCommands(Command.Acquire.class::isInstance);
        CompletableFuture<Reply> reply = send(acquire("ledger", session));
        assertThat(reply).as("while the third may still grant it").isNotDone();
        a.losesItsData();
        keptAlive(session);
        assertThat(reply).isCompletedExceptionally();
    }

    @Test
    @DisplayName("A claim that is requested again while its session ends is answered with that")
    void sessionEndsDuringARepeatedRequest() {
        SessionId session = session();
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        for (ScriptedMember member : List.of(a, b)) {
            member.keepsAnswers(Command.Poll.class::isInstance);
        }
        CompletableFuture<Reply> again = send(acquired);
        a.losesItsData();
        b.losesItsData();
        assertThat(keptAlive(session)).isInstanceOf(Reply.SessionEnded.class);
        a.letGo();
        b.letGo();
        assertThat(answered(again)).isInstanceOf(Reply.SessionEnded.class);
        assertThat(c.names()).isEmpty();
    }

    @Test
    @DisplayName("A claim that a majority does not support is answered with that, and leaves nothing")
    void unsupportedClaim() {
        SessionId session = session();
        Reply unsupported = new Reply.Unsupported("there are no such locks here");
        for (ScriptedMember member : List.of(b, c)) {
            member.answers(Command.Acquire.class::isInstance, unsupported);
        }
        Command.Acquire waits = waits(acquire("ledger", session));
        assertThat(answered(send(waits))).isEqualTo(unsupported);
        assertThat(a.names()).isEmpty();
        assertThat(state(waits)).isInstanceOf(Reply.Absent.class);
    }

    @Test
    @DisplayName("A claim of another kind does not wait if two of three members have the name in use")
    void mismatchAtTwo() {
        heldAtTwo(session());
        Command.Acquire mutex = acquire("ledger", session());
        Command.Acquire other = new Command.Acquire(
                mutex.claim(),
                0,
                Command.Sending.FIRST,
                new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, ResourceSpec.MUTEX.order()),
                1,
                Lease.SESSION,
                Command.Waiting.QUEUE,
                1);
        assertThat(answered(send(other)))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Refusal.MISMATCH));
        assertThat(c.names()).isEmpty();
        assertThat(state(other)).isInstanceOf(Reply.Absent.class);
    }

    @Test
    @Tag("Q1")
    @DisplayName("Q1: an audit withdraws nothing that an attempt in progress has got")
    void auditDuringAnAttempt() {
        SessionId session = session();
        for (ScriptedMember member : List.of(b, c)) {
            member.keepsAnswers(Command.Acquire.class::isInstance);
        }
        Command.Acquire acquired = acquire("ledger", session);
        CompletableFuture<Reply> reply = send(acquired);
        assertThat(answered(send(new Command.Audit(session, Optional.empty(), 10))))
                .isEqualTo(new Reply.Audited(List.of(), List.of(), Optional.empty()));
        b.letGo();
        assertThat(answered(reply)).isInstanceOf(Reply.Granted.class);
        for (ScriptedMember member : List.of(a, b, c)) {
            assertThat(member.names()).containsExactly("ledger");
        }
    }

    // ---- Time

    @Test
    @Tag("Q3")
    @DisplayName("Q3: a member counts only if its session was renewed with what the client goes by")
    void memberThatMissedAKeepAliveDoesNotCount() {
        assertThat(isGrantedByOneThatWasNotRenewed()).isFalse();
        assertThat(b.names()).isEmpty();
        assertThat(c.names()).isEmpty();
        with(new QuorumRules() {
            @Override
            boolean counts(long renewedAt, long toldSince) {
                return true;
            }
        });
        assertThat(isGrantedByOneThatWasNotRenewed())
                .as("by a quorum that does not look at the time that has elapsed")
                .isTrue();
    }

    private boolean isGrantedByOneThatWasNotRenewed() {
        SessionId session = session();
        time.advance(Duration.ofSeconds(5));
        c.cutOff();
        assertThat(keptAlive(session)).isInstanceOf(Reply.SessionAlive.class);
        time.advance(MEMBER_TIMEOUT);
        c.dropKept();
        c.comeBack();
        a.cutOff();
        // The client counts on twenty seconds from the keep-alive; at the third member fourteen are left.
        boolean granted = isGranted(acquire("ledger", session));
        time.advance(MEMBER_TIMEOUT);
        return granted;
    }

    @Test
    @Tag("Q3")
    @DisplayName("Q3: a keep-alive that succeeds after a later one does not shorten what members must cover")
    void keepAlivesOutOfOrder() {
        SessionId session = session();
        time.advance(Duration.ofSeconds(5));
        a.keepsAnswers(Command.KeepAlive.class::isInstance);
        c.keepsAnswers(Command.KeepAlive.class::isInstance);
        CompletableFuture<Reply> first = send(new Command.KeepAlive(session, 0));
        time.advance(MEMBER_TIMEOUT.dividedBy(2));
        a.comeBack();
        c.fails(Command.KeepAlive.class::isInstance);
        assertThat(keptAlive(session)).as("at the first two").isInstanceOf(Reply.SessionAlive.class);
        assertThat(first).isNotDone();
        c.letGo();
        assertThat(answered(first)).as("at the last two").isInstanceOf(Reply.SessionAlive.class);
        c.comeBack();
        b.cutOff();
        assertThat(isGranted(acquire("ledger", session))).isFalse();
    }

    @Test
    @Tag("Q3")
    @DisplayName("Q3: a hold that a keep-alive does not cover is put in doubt before the answer")
    void holdThatIsNotCoveredIsInDoubtFirst() {
        SessionId session = session();
        c.cutOff();
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        c.letGo();
        c.comeBack();
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
        assertThat(c.names()).as("what the third has of it").isEmpty();
        a.cutOff();
        CompletableFuture<Reply> renewed = send(new Command.KeepAlive(session, 0));
        var unused = renewed.thenAccept(reply -> signals.add(reply.getClass().getSimpleName()));
        assertThat(signals).as("while the first may still answer").isEmpty();
        time.advance(MEMBER_TIMEOUT);
        assertThat(signals).containsExactly("revoked ledger", "SessionAlive");
    }

    @Test
    @Tag("Q3")
    @DisplayName("Q3: a hold in doubt is confirmed only after a keep-alive that covers it")
    void holdInDoubtIsConfirmedByAKeepAlive() {
        SessionId session = session();
        Command.Acquire acquired = heldAtTwo(session);
        a.keepsCommands(command -> command instanceof Command.KeepAlive);
        CompletableFuture<Reply> renewed = send(new Command.KeepAlive(session, 0));
        time.advance(MEMBER_TIMEOUT);
        assertThat(answered(renewed)).isInstanceOf(Reply.SessionAlive.class);
        assertThat(signals).containsExactly("revoked ledger");
        assertThat(send(new Command.Poll(List.of(acquired.claim()))))
                .as("of which both have it, one for a shorter time than the client believes")
                .isCompletedExceptionally();
        a.dropKept();
        a.comeBack();
        keptAlive(session);
        assertThat(state(acquired)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    @Tag("Q3")
    @DisplayName("Q3: a poll reports the lease that the members have by now")
    void pollReportsTheLeaseOfTheMembers() {
        List<Command.Acquire> asked = new ArrayList<>();
        List<ScriptedMember> both = List.of(a, b);
        for (ScriptedMember member : both) {
            member.listen(command -> {
                if (command instanceof Command.Acquire acquire
                        && acquire.claim().resource().value().equals("ledger")) {
                    asked.add(acquire);
                }
            });
        }
        Command.Acquire bounded = acquire("ledger", session(), Lease.bounded(Duration.ofSeconds(10)));
        assertThat(isGranted(bounded)).isTrue();
        for (int i = 0; i < 2; i++) {
            Command shortened = new Command.Extend(asked.get(i).claim(), 1, Duration.ofSeconds(4));
            assertThat(both.get(i).execute(shortened, CallerMode.ASYNC)).isCompleted();
        }
        assertThat(((Reply.Granted) state(bounded)).remaining()).contains(Duration.ofSeconds(4));
    }

    @Test
    @Tag("Q3")
    @DisplayName("Q3: of a fixed lease the time is taken off that the answers took")
    void timeOnTheWayIsTakenOffAFixedLease() {
        SessionId session = session();
        b.keepsAnswers(command -> command instanceof Command.Acquire);
        c.keepsAnswers(command -> command instanceof Command.Acquire);
        Command.Acquire bounded = acquire("ledger", session, Lease.bounded(Duration.ofSeconds(10)));
        CompletableFuture<Reply> first = send(bounded);
        time.advance(Duration.ofMillis(600));
        CompletableFuture<Reply> again = send(bounded);
        assertThat(first).isNotDone();
        c.letGo();
        assertThat(((Reply.Granted) answered(first)).remaining()).contains(Duration.ofSeconds(10));
        assertThat(((Reply.Granted) answered(again)).remaining())
                .as("counted from when this one was asked")
                .contains(Duration.ofMillis(9_400));
    }

    @Test
    @Tag("Q3")
    @DisplayName("Q3: of a fixed lease counts what a majority leaves, not what the last of them does")
    void fixedLeaseIsThatOfAMajority() {
        SessionId session = session();
        c.keepsCommands(command -> command instanceof Command.Acquire);
        Command.Acquire bounded = acquire("ledger", session, Lease.bounded(Duration.ofSeconds(10)));
        assertThat(isGranted(bounded)).isTrue();
        time.advance(Duration.ofMillis(800));
        // There it begins only now, and ends later than at the two on which the grant rests.
        c.letGo();
        c.comeBack();
        assertThat(((Reply.Granted) state(bounded)).remaining()).contains(Duration.ofMillis(9_200));
    }

    // ---- Ends

    @Test
    @Tag("Q4")
    @DisplayName("Q4: an asking that arrives after everything else holds nothing")
    void askingThatComesLateHoldsNothing() {
        assertThat(isLeftBehindByALateAsking()).isFalse();
        with(new QuorumRules() {
            @Override
            boolean settlesUnknown() {
                return false;
            }
        });
        assertThat(isLeftBehindByALateAsking())
                .as("by a quorum that ends only what it knows of")
                .isTrue();
    }

    private boolean isLeftBehindByALateAsking() {
        SessionId session = session();
        c.keepsCommands(command -> command instanceof Command.Acquire);
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        release(acquired);
        // It has timed out, and the quorum has handled that completely.
        for (int i = 0; i < 10; i++) {
            time.advance(MEMBER_TIMEOUT);
        }
        c.letGo();
        c.comeBack();
        for (int i = 0; i < 3; i++) {
            time.advance(MEMBER_TIMEOUT);
        }
        return !c.names().isEmpty();
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a release goes to all members, and to one that is away until it answers")
    void releaseGoesToAll() {
        SessionId session = session();
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        b.cutOff();
        release(acquired);
        assertThat(a.names()).isEmpty();
        assertThat(c.names()).isEmpty();
        assertThat(b.names()).containsExactly("ledger");
        time.advance(MEMBER_TIMEOUT.multipliedBy(3));
        b.dropKept();
        b.comeBack();
        time.advance(MEMBER_TIMEOUT.multipliedBy(3));
        assertThat(b.names()).isEmpty();
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a member that grants after its time is not left with it")
    void grantThatIsToldLateIsGivenBack() {
        SessionId session = session();
        c.keepsAnswers(command -> command instanceof Command.Acquire);
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        time.advance(MEMBER_TIMEOUT.multipliedBy(2));
        c.letGo();
        c.comeBack();
        release(acquired);
        time.advance(MEMBER_TIMEOUT.multipliedBy(2));
        assertThat(c.names()).isEmpty();
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a release that a majority does not answer has an unknown effect")
    void releaseWithoutAMajority() {
        Command.Acquire acquired = acquire("ledger", session());
        assertThat(isGranted(acquired)).isTrue();
        b.cutOff();
        c.cutOff();
        CompletableFuture<Reply> released = send(new Command.Release(acquired.claim()));
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        assertThat(released).as("while it is sent again").isNotDone();
        time.advance(MEMBER_TIMEOUT);
        assertThatEffectIsUnknown(released);
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a release counts if a majority had the grant, which a silent member leaves open")
    void releaseOfWhatOneHasLost() {
        Command.Acquire acquired = acquire("ledger", session());
        assertThat(isGranted(acquired)).isTrue();
        a.forcesRelease("ledger");
        c.keepsCommands(command -> command instanceof Command.Release);
        CompletableFuture<Reply> released = send(new Command.Release(acquired.claim()));
        assertThat(released).as("of one that had it and one that may").isNotDone();
        c.letGo();
        assertThat(answered(released)).isInstanceOf(Reply.Released.class);
        c.comeBack();

        Command.Acquire again = acquire("ledger", acquired.claim().session());
        assertThat(isGranted(again)).isTrue();
        a.forcesRelease("ledger");
        c.cutOff();
        CompletableFuture<Reply> unanswered = send(new Command.Release(again.claim()));
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        assertThat(unanswered).isNotDone();
        time.advance(MEMBER_TIMEOUT);
        assertThat(answered(unanswered)).isInstanceOf(Reply.Absent.class);
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a release is answered with Absent as soon as no majority can have had the grant")
    void releaseOfWhatTwoHaveLost() {
        Command.Acquire acquired = acquire("ledger", session());
        assertThat(isGranted(acquired)).isTrue();
        a.forcesRelease("ledger");
        b.forcesRelease("ledger");
        c.cutOff();
        assertThat(answered(send(new Command.Release(acquired.claim())))).isInstanceOf(Reply.Absent.class);
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a withdrawal is done when no majority can have the claim any more")
    void withdrawal() {
        SessionId session = session();
        Command.Acquire first = acquire("ledger", session);
        Command.Acquire second = acquire("other", session);
        assertThat(isGranted(first)).isTrue();
        assertThat(isGranted(second)).isTrue();
        c.cutOff();
        assertThat(answered(send(new Command.Withdraw(first.claim(), Command.Sending.FIRST))))
                .isInstanceOf(Reply.Done.class);
        b.cutOff();
        CompletableFuture<Reply> withdrawn = send(new Command.Withdraw(second.claim(), Command.Sending.FIRST));
        time.advance(MEMBER_TIMEOUT.multipliedBy(2));
        assertThatEffectIsUnknown(withdrawn);
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a claim that waits has nothing at the members, so it is withdrawn and released without them")
    void withdrawalOfAWaitingClaim() {
        assertThat(isGranted(acquire("ledger", session()))).isTrue();
        Command.Acquire waits = waits(acquire("ledger", session()));
        assertThat(answered(send(waits))).isInstanceOf(Reply.Queued.class);
        List.of(a, b, c).forEach(ScriptedMember::cutOff);
        assertThat(answered(send(new Command.Release(waits.claim())))).isInstanceOf(Reply.Absent.class);
        assertThat(answered(send(new Command.Withdraw(waits.claim(), Command.Sending.FIRST))))
                .isInstanceOf(Reply.Done.class);
        assertThat(state(waits)).isInstanceOf(Reply.Absent.class);
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a detached grant is released at a silent member even after the end of the session there")
    void detachedGrantIsReleasedAfterItsSession() {
        SessionId session = session();
        Command.Acquire detached = acquire("ledger", session, Lease.detached(LONGEST));
        assertThat(isGranted(detached)).isTrue();
        c.keepsCommands(command -> command instanceof Command.Release);
        release(detached);
        assertThat(answered(send(new Command.CloseSession(session)))).isInstanceOf(Reply.Done.class);
        comesBack(c);
        assertThat(c.names()).containsExactly("ledger");
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
        assertThat(c.names()).isEmpty();
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: a member that refuses a claim after its attempt is asked again by the next")
    void lateRefusalSettlesAnAttempt() {
        SessionId session = session();
        assertThat(isGranted(acquire("ledger", session()))).isTrue();
        c.keepsAnswers(Command.Acquire.class::isInstance);
        Command.Acquire waits = waits(acquire("ledger", session));
        assertThat(answered(send(waits))).isInstanceOf(Reply.Queued.class);
        c.comeBack();
        c.letGo();
        int[] asked = countAcquiresAt(c);
        assertThat(state(waits)).isInstanceOf(Reply.Queued.class);
        assertThat(asked[0]).isEqualTo(1);
    }

    @Test
    @Tag("Q4")
    @DisplayName(
            "Q4: a claim that is made again after its release is not requested from a member that has yet to end it")
    void claimIsMadeAgainAfterItsRelease() {
        Command.Acquire acquired = acquire("ledger", session());
        assertThat(isGranted(acquired)).isTrue();
        c.keepsAnswers(Command.Release.class::isInstance);
        release(acquired);
        int[] asked = countAcquiresAt(c);
        assertThat(isGranted(acquired)).isTrue();
        assertThat(asked[0]).isZero();
        c.comeBack();
        c.letGo();
        release(acquired);
        assertThat(isGranted(acquired)).isTrue();
        assertThat(asked[0]).as("after it has ended there").isEqualTo(1);
    }

    @Test
    @Tag("Q4")
    @DisplayName("Q4: an unknown grant is withdrawn at once if the client has raised its epoch meanwhile")
    void unknownGrantOfAnEarlierEpoch() {
        SessionId session = session();
        c.keepsAnswers(Command.Acquire.class::isInstance);
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        assertThat(answered(send(new Command.KeepAlive(session, 1)))).isInstanceOf(Reply.SessionAlive.class);
        release(acquired);
        assertThat(c.names()).containsExactly("ledger");
        time.advance(MEMBER_TIMEOUT);
        assertThat(c.names()).isEmpty();
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
