package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Releases and withdrawals at members that answer late, or never, or have forgotten. */
class QuorumReleasesTest extends ScriptedQuorum {

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
}
