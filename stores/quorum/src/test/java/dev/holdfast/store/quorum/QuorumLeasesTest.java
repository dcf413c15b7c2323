package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How long a hold lasts whose members answer late, or never. */
class QuorumLeasesTest extends ScriptedQuorum {

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
}
