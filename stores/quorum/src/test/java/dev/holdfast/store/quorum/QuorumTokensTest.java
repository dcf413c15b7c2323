package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The tokens that a quorum issues, and those that it reports for a grant known only from its members. */
class QuorumTokensTest extends ScriptedQuorum {

    /** Further than the blocks of members may be apart. */
    private static final Duration AHEAD = Duration.ofMinutes(10);

    @Test
    @Tag("Q5")
    @DisplayName("Q5: tokens rise from one majority to another whose clocks are behind")
    void tokensRiseOverMajorities() {
        assertThat(isTokenOfTheNextMajorityGreater(new QuorumRules())).isTrue();
        assertThat(isTokenOfTheNextMajorityGreater(new QuorumRules() {
                    @Override
                    boolean writesTokensBack() {
                        return false;
                    }
                }))
                .as("by a quorum that does not write tokens back")
                .isFalse();
    }

    private boolean isTokenOfTheNextMajorityGreater(QuorumRules rules) {
        a = member(Duration.ofMinutes(10));
        b = member(Duration.ZERO);
        c = member(Duration.ZERO);
        store = quorum(rules);
        SessionId session = session();
        c.keepsCommands(command -> command instanceof Command.Acquire);
        Command.Acquire first = acquire("ledger", session);
        long before = token(first);
        release(first);
        time.advance(MEMBER_TIMEOUT.multipliedBy(3));
        c.dropKept();
        c.comeBack();
        time.advance(MEMBER_TIMEOUT.multipliedBy(3));
        keptAlive(session);
        a.cutOff();
        return token(acquire("ledger", session)) > before;
    }

    @Test
    @Tag("Q5")
    @DisplayName("Q5: a block of one token is followed by a later one, which a second request gets too")
    void blockOfOneToken() {
        begins(Duration.ZERO, Duration.ZERO, Duration.ZERO);
        Command.Acquire acquired = acquire("ledger", session());
        TokenBlock given = tokens(acquired);
        assertThat(given.first()).isEqualTo(given.last());
        for (ScriptedMember member : List.of(b, c)) {
            member.keepsAnswers(command -> command instanceof Command.Advance);
        }
        CompletableFuture<Reply> one = send(new Command.Advance(acquired.claim(), given.last(), 1, 0));
        CompletableFuture<Reply> two = send(new Command.Advance(acquired.claim(), given.last(), 1, given.last() + 50));
        for (ScriptedMember member : List.of(b, c)) {
            member.comeBack();
            member.letGo();
        }
        TokenBlock next = ((Reply.Advanced) answered(one)).tokens();
        assertThat(next.first()).isGreaterThan(given.last());
        assertThat(((Reply.Advanced) answered(two)).tokens()).isEqualTo(next);
        assertThat(advanced(acquired, next.last()).first()).isGreaterThan(next.last());
    }

    @Test
    @Tag("Q5")
    @DisplayName("Q5: two requests for tokens after the same block get the same, whatever each asks for")
    void requestsAfterTheSameBlock() {
        Command.Acquire acquired = acquire("ledger", session());
        TokenBlock given = tokens(acquired);
        for (ScriptedMember member : List.of(b, c)) {
            member.keepsAnswers(command -> command instanceof Command.Advance);
        }
        CompletableFuture<Reply> many = send(new Command.Advance(acquired.claim(), given.last(), 100, 0));
        CompletableFuture<Reply> one = send(new Command.Advance(acquired.claim(), given.last(), 1, 0));
        for (ScriptedMember member : List.of(b, c)) {
            member.comeBack();
            member.letGo();
        }
        TokenBlock next = ((Reply.Advanced) answered(many)).tokens();
        assertThat(((Reply.Advanced) answered(one)).tokens()).isEqualTo(next);
        assertThat(((Reply.Granted) state(acquired)).tokens()).isEqualTo(next);
    }

    @Test
    @Tag("Q5")
    @DisplayName("Q5: a member that has yet to answer a request for tokens gets no other")
    void oneRequestAtATime() {
        Command.Acquire acquired = acquire("ledger", session());
        TokenBlock given = tokens(acquired);
        int[] sent = new int[1];
        b.listen(command -> sent[0] += command instanceof Command.Advance ? 1 : 0);
        for (ScriptedMember member : List.of(b, c)) {
            member.keepsAnswers(command -> command instanceof Command.Advance);
        }
        CompletableFuture<Reply> advanced = send(new Command.Advance(acquired.claim(), given.last(), 1, 0));
        assertThat(sent[0]).isEqualTo(1);
        b.letGo();
        assertThat(answered(advanced)).isInstanceOf(Reply.Advanced.class);
    }

    @Test
    @Tag("Q5")
    @DisplayName("Q5: a hold that a majority lacks when more tokens are requested gets none, and is lost")
    void tokensOfALostHold() {
        Command.Acquire acquired = acquire("ledger", session());
        TokenBlock given = tokens(acquired);
        Command advance = new Command.Advance(acquired.claim(), given.last(), 1, 0);
        a.forcesRelease("ledger");
        TokenBlock next = ((Reply.Advanced) answered(send(advance))).tokens();
        assertThat(next.first()).isGreaterThan(given.last());
        assertThat(signals).isEmpty();
        b.forcesRelease("ledger");
        Command again = new Command.Advance(acquired.claim(), next.last(), 1, 0);
        assertThat(answered(send(again))).isInstanceOf(Reply.Absent.class);
        assertThat(signals).containsExactly("revoked ledger");
        assertThat(c.names()).isEmpty();
    }

    @Test
    @Tag("Q5")
    @DisplayName("Q5: nothing is granted if no majority can be raised to its tokens, and nothing is left of it")
    void nothingIsGrantedWithoutTokens() {
        begins(AHEAD, Duration.ZERO, Duration.ZERO);
        SessionId session = session();
        b.keepsCommands(command -> command instanceof Command.Advance);
        c.keepsCommands(command -> command instanceof Command.Acquire);
        assertThat(isGranted(acquire("ledger", session))).isFalse();
        assertThat(a.names()).isEmpty();
        assertThat(b.names()).isEmpty();
    }

    // ---- What only the members know

    @Test
    @Tag("Q8")
    @DisplayName("Q8: fresh tokens of a grant that only the members know are above those it was given")
    void freshTokensOfADetachedGrantAreAboveItsOwn() {
        begins(Duration.ZERO, Duration.ZERO, Duration.ofMillis(1));
        SessionId session = session();
        // Now it is known that the clocks are apart, and of all of them more is asked than is wanted.
        release(granted(acquire("other", session)));
        Command.Acquire detached = acquire("ledger", session, Lease.detached(LONGEST));
        TokenBlock given = tokens(detached);
        assertThat(given.last()).as("of one token").isEqualTo(given.first());
        close(session);
        assertThat(reported(detached).last()).as("what the members keep for it").isGreaterThan(given.last());
        assertThat(advanced(detached, given.last()).first()).isGreaterThan(given.last());
    }

    @Test
    @Tag("Q8")
    @DisplayName("Q8: tokens told of it are above those of the owner before, though a member that is ahead is silent")
    void toldTokensAreAboveTheOwnerBefore() {
        begins(AHEAD, AHEAD, Duration.ZERO);
        SessionId session = session();
        Command.Acquire before = acquire("ledger", session);
        long tokenBefore = token(before);
        release(before);
        Command.Acquire detached = acquire("ledger", session, Lease.detached(LONGEST));
        TokenBlock given = tokens(detached);
        close(session);
        b.cutOff();
        // The other two have it, and the majority that they are has never stood where its tokens are.
        TokenBlock reported = reported(detached);
        assertThat(reported.first()).isGreaterThan(tokenBefore);
        assertThat(advanced(detached, given.last()).first()).isGreaterThan(given.last());
    }

    @Test
    @Tag("Q8")
    @DisplayName("Q8: fresh tokens are above those that are spent, though it is unknown which these are")
    void freshTokensAreAboveUnknownOnes() {
        begins(AHEAD, AHEAD, Duration.ZERO);
        SessionId session = session();
        Command.Acquire detached = acquire("ledger", session, Lease.detached(LONGEST));
        TokenBlock given = tokens(detached);
        close(session);
        b.cutOff();
        assertThat(advanced(detached, given.last()).first()).isGreaterThan(given.last());
    }

    @Test
    @Tag("Q8")
    @DisplayName("Q8: fresh tokens are above those that are spent, though those seen of it end below them")
    void freshTokensAreAboveTheSpentOnes() {
        begins(Duration.ofMillis(2), Duration.ofMillis(1), Duration.ZERO);
        SessionId session = session();
        Command.Acquire detached = acquire("ledger", session, Lease.detached(LONGEST), 8_000);
        TokenBlock given = tokens(detached);
        close(session);
        a.cutOff();
        assertThat(reported(detached).last()).as("what the others have").isLessThan(given.last());
        assertThat(advanced(detached, given.last()).first()).isGreaterThan(given.last());
    }

    @Test
    @Tag("Q8")
    @DisplayName("Q8: it may be told with later tokens than it was given, which nobody else gets")
    void laterTokensMayBeTold() {
        begins(Duration.ZERO, Duration.ZERO, Duration.ofMillis(1));
        SessionId session = session();
        release(granted(acquire("other", session)));
        c.keepsAnswers(command -> command instanceof Command.Acquire);
        Command.Acquire detached = acquire("ledger", session, Lease.detached(LONGEST));
        TokenBlock given = tokens(detached);
        c.comeBack();
        c.letGo();
        close(session);
        TokenBlock reported = reported(detached);
        assertThat(reported.first()).as("the member that came late was ahead").isGreaterThan(given.last());
        assertThat(advanced(detached, given.last()))
                .as("of which nothing is spent")
                .isEqualTo(reported);
        assertThat(answered(send(new Command.Release(detached.claim())))).isInstanceOf(Reply.Released.class);
        SessionId next = session();
        c.cutOff();
        assertThat(token(acquire("ledger", next)))
                .as("whose majority is that of the first")
                .isGreaterThan(reported.last());
    }

    @Test
    @Tag("Q8")
    @DisplayName(
            "Q8: what a majority has of it is held, what fewer have is not, and of too few answers nothing is known")
    void grantIsThatOfAMajority() {
        SessionId session = session();
        Command.Acquire detached = granted(acquire("ledger", session, Lease.detached(LONGEST)));
        close(session);
        assertThat(((Reply.Granted) state(detached)).remaining()).contains(LONGEST);
        b.cutOff();
        c.cutOff();
        CompletableFuture<Reply> unknown = send(new Command.Poll(List.of(detached.claim())));
        time.advance(MEMBER_TIMEOUT);
        assertThat(unknown).isCompletedExceptionally();
        for (ScriptedMember member : List.of(b, c)) {
            member.dropKept();
            member.comeBack();
            member.forcesRelease("ledger");
        }
        assertThat(a.names()).containsExactly("ledger");
        assertThat(state(detached)).isInstanceOf(Reply.Absent.class);
    }

    @Test
    @Tag("Q8")
    @DisplayName("Q8: a release of one of several ends that one, and says whether it was annotated")
    void releaseOfOneOfSeveral() {
        SessionId session = session();
        Command.Acquire one = granted(acquire("ledger", session, Lease.detached(LONGEST)));
        Command.Acquire two = granted(acquire("other", session, Lease.detached(LONGEST)));
        close(session);
        for (Command.Acquire each : List.of(one, two)) {
            List<Command> released = new ArrayList<>();
            c.listen(command -> {
                if (command instanceof Command.Release) {
                    released.add(command);
                }
            });
            boolean isAnnotated = each == one;
            assertThat(inTime(new Command.Release(each.claim(), isAnnotated))).isInstanceOf(Reply.Released.class);
            assertThat(released)
                    .singleElement()
                    .isInstanceOfSatisfying(
                            Command.Release.class,
                            release -> assertThat(release.isAnnotated()).isEqualTo(isAnnotated));
            assertThat(c.names()).isEqualTo(each == one ? List.of("other") : List.of());
        }
    }

    @Test
    @Tag("Q8")
    @DisplayName("Q8: nothing is held under an id that names a session at no member")
    void sessionAtNoMember() {
        assertThat(state(acquire("ledger", new SessionId("q1,,,")))).isInstanceOf(Reply.Absent.class);
    }

    private void begins(Duration aheadOfA, Duration aheadOfB, Duration aheadOfC) {
        a = member(aheadOfA);
        b = member(aheadOfB);
        c = member(aheadOfC);
        store = quorum(new QuorumRules());
    }

    private void close(SessionId session) {
        assertThat(answered(send(new Command.CloseSession(session)))).isInstanceOf(Reply.Done.class);
    }

    private Command.Acquire granted(Command.Acquire command) {
        assertThat(isGranted(command)).isTrue();
        return command;
    }

    private TokenBlock tokens(Command.Acquire command) {
        return ((Reply.Granted) answered(send(command))).tokens();
    }

    private TokenBlock reported(Command.Acquire command) {
        Reply.Polled polled = (Reply.Polled) inTime(new Command.Poll(List.of(command.claim())));
        return ((Reply.Granted) polled.states().get(0)).tokens();
    }

    private TokenBlock advanced(Command.Acquire command, long blockEnd) {
        return ((Reply.Advanced) inTime(new Command.Advance(command.claim(), blockEnd, 1, 0))).tokens();
    }
}
