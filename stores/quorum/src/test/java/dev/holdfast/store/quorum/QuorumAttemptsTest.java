package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Attempts to get a claim from members that answer late, or never, or have forgotten. */
class QuorumAttemptsTest extends ScriptedQuorum {

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
}
