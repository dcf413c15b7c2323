package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of a hold whose members go away and come back, one after another. */
@Tag("Q9")
class QuorumRepairTest extends ScriptedQuorum {

    private static final ResourceSpec BOTH =
            new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, ResourceSpec.MUTEX.order());

    /** Lets the longest lease and a tenth more pass, while keeping sessions alive. */
    private void outlastKeepOut(SessionId... sessions) {
        for (int i = 0; i < 9; i++) {
            time.advance(Duration.ofSeconds(4));
            for (SessionId session : sessions) {
                assertThat(keptAlive(session)).isInstanceOf(Reply.SessionAlive.class);
            }
            time.advance(MEMBER_TIMEOUT);
        }
    }

    private void comesBackEmpty(ScriptedMember member, SessionId... sessions) {
        member.losesItsData();
        for (int i = 0; i < 2; i++) {
            for (SessionId session : sessions) {
                assertThat(keptAlive(session)).isInstanceOf(Reply.SessionAlive.class);
            }
        }
        outlastKeepOut(sessions);
    }

    private Command.Acquire acquireBoth(SessionId session, int weight, long claim) {
        return new Command.Acquire(
                new ClaimRef(new ResourceName("catalogue"), session, claim),
                0,
                Command.Sending.FIRST,
                BOTH,
                weight,
                Lease.SESSION,
                Command.Waiting.TRY,
                1);
    }

    // ---- What is kept

    @Test
    @DisplayName("Q9: a hold outlives any number of losses, one member at a time")
    void holdIsRegained() {
        SessionId session = session();
        Command.Acquire acquired = acquire("ledger", session);
        long token = token(acquired);
        for (int round = 0; round < 5; round++) {
            for (ScriptedMember member : List.of(a, b, c)) {
                comesBackEmpty(member, session);
                assertThat(member.names()).as("in round %d", round).containsExactly("ledger");
            }
        }
        assertThat(signals).isEmpty();
        assertThat(((Reply.Granted) state(acquired)).tokens().first()).isEqualTo(token);
        release(acquired);
        for (ScriptedMember member : List.of(a, b, c)) {
            assertThat(member.names()).isEmpty();
        }
        assertThat(token(acquire("ledger", session))).isGreaterThan(token);
    }

    @Test
    @DisplayName("Q9: and is lost by that where nothing is claimed again")
    void holdIsLostWithoutRepairs() {
        with(new QuorumRules() {
            @Override
            boolean repairs() {
                return false;
            }
        });
        SessionId session = session();
        assertThat(isGranted(acquire("ledger", session))).isTrue();
        comesBackEmpty(a, session);
        assertThat(signals).isEmpty();
        comesBackEmpty(b, session);
        assertThat(signals).containsExactly("revoked ledger");
    }

    @Test
    @DisplayName("Q9: a member that was cut off when the claim was made has it after the next keep-alive")
    void memberThatWasAwayIsAsked() {
        SessionId session = session();
        c.cutOff();
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        comesBack(c);
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
        assertThat(c.names()).isEmpty();
        keptAlive(session);
        keptAlive(session);
        assertThat(c.names()).containsExactly("ledger");
        a.cutOff();
        assertThat(isCoveredByKeepAlive(session)).isTrue();
        a.comeBack();
        release(acquired);
        assertThat(c.names()).isEmpty();
    }

    private boolean isCoveredByKeepAlive(SessionId session) {
        Reply reply = inTime(new Command.KeepAlive(session, 0));
        return reply instanceof Reply.SessionAlive && signals.isEmpty();
    }

    @Test
    @DisplayName("Q9: a member that answers after the others has it too, and one that is silent is not asked")
    void slowMemberIsAskedAndSilentOneIsNot() {
        SessionId session = session();
        c.cutOff();
        assertThat(isGranted(acquire("ledger", session))).isTrue();
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        c.dropKept();
        int[] asked = new int[1];
        c.listen(command -> asked[0] += command instanceof Command.Acquire ? 1 : 0);
        for (int i = 0; i < 3; i++) {
            keptAlive(session);
            time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        }
        assertThat(asked[0]).isZero();
        c.dropKept();
        c.comeBack();
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
        c.keepsAnswers(command -> command instanceof Command.KeepAlive);
        keptAlive(session);
        assertThat(c.names()).isEmpty();
        c.letGo();
        assertThat(c.names()).containsExactly("ledger");
    }

    @Test
    @DisplayName("Q9: nothing is claimed at a member that is kept out")
    void memberThatIsKeptOutIsNotAsked() {
        SessionId session = session();
        assertThat(isGranted(acquire("ledger", session))).isTrue();
        c.losesItsData();
        for (int i = 0; i < 6; i++) {
            keptAlive(session);
            time.advance(Duration.ofSeconds(5));
            assertThat(c.names()).isEmpty();
        }
    }

    @Test
    @DisplayName("Q9: many claims are regained, some of them at a time")
    void manyAreRegained() {
        SessionId session = session();
        List<Command.Acquire> acquired = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            acquired.add(acquire("ledger/" + i, session));
            assertThat(isGranted(acquired.get(i))).isTrue();
        }
        c.losesItsData();
        keptAlive(session);
        keptAlive(session);
        outlastKeepOut(session);
        assertThat(c.names()).hasSize(60);
    }

    @Test
    @DisplayName("Q9: a member that comes back is asked for a few claims at a time")
    void memberIsNotFlooded() {
        SessionId session = session();
        c.cutOff();
        for (int i = 0; i < 60; i++) {
            assertThat(isGranted(acquire("ledger/" + i, session))).isTrue();
        }
        comesBack(c);
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
        List<Command> asked = new ArrayList<>();
        c.listen(command -> {
            if (command instanceof Command.Acquire) {
                asked.add(command);
            }
        });
        c.keepsAnswers(command -> command instanceof Command.Acquire);
        keptAlive(session);
        keptAlive(session);
        assertThat(asked).hasSize(16);
        c.comeBack();
        c.letGo();
        assertThat(asked).hasSize(60);
        assertThat(c.names()).hasSize(60);
    }

    // ---- What is not regained

    @Test
    @DisplayName("Q9: a claim that is released while it is claimed again leaves nothing")
    void releaseOvertakesRepair() {
        SessionId session = session();
        c.cutOff();
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        comesBack(c);
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
        c.keepsCommands(command -> command instanceof Command.Acquire);
        keptAlive(session);
        keptAlive(session);
        CompletableFuture<Reply> released = send(new Command.Release(acquired.claim()));
        assertThat(answered(released)).isInstanceOf(Reply.Released.class);
        c.letGo();
        c.comeBack();
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
        assertThat(c.names()).isEmpty();
        SessionId other = session();
        assertThat(isGranted(acquire("ledger", other))).isTrue();
        grantedAtTwo(acquire("next", session));
        keptAliveTwice(session);
        assertThat(c.names()).containsExactlyInAnyOrder("ledger", "next");
    }

    @Test
    @DisplayName("Q9: a claim that changes while it is claimed again is regained only as what it has become")
    void changeOvertakesRepair() {
        SessionId session = session();
        Command.Acquire writer = acquireBoth(session, Integer.MAX_VALUE, 1_000);
        grantedAtTwo(writer);
        c.keepsCommands(command -> command instanceof Command.Acquire);
        keptAliveTwice(session);
        assertThat(answered(send(new Command.ShrinkTo(writer.claim(), 1)))).isInstanceOf(Reply.Done.class);
        c.comeBack();
        c.letGo();
        assertThatItIsRegainedToRead(session);
    }

    @Test
    @DisplayName("Q9: and one that changes while the majority is asked, likewise")
    void changeOvertakesConfirmation() {
        SessionId session = session();
        Command.Acquire writer = acquireBoth(session, Integer.MAX_VALUE, 1_000);
        grantedAtTwo(writer);
        keepsPolls();
        keptAliveTwice(session);
        assertThat(c.names()).containsExactly("catalogue");
        assertThat(answered(send(new Command.ShrinkTo(writer.claim(), 1)))).isInstanceOf(Reply.Done.class);
        letsPollsGo();
        assertThatItIsRegainedToRead(session);
    }

    private void assertThatItIsRegainedToRead(SessionId session) {
        assertThat(c.names()).as("with the weight that it had").isEmpty();
        SessionId reader = session();
        keptAlive(session);
        assertThat(c.names()).containsExactly("catalogue");
        a.cutOff();
        assertThat(isGranted(acquireBoth(reader, 1, 1_001))).isTrue();
    }

    @Test
    @DisplayName("Q9: nothing is claimed again while the claim is being changed")
    void repairWaitsForAChange() {
        SessionId session = session();
        Command.Acquire bounded = acquire("ledger", session, Lease.bounded(Duration.ofSeconds(10)));
        grantedAtTwo(bounded);
        for (ScriptedMember member : List.of(a, b)) {
            member.keepsAnswers(command -> command instanceof Command.Extend);
        }
        CompletableFuture<Reply> extended = send(new Command.Extend(bounded.claim(), 1, Duration.ofSeconds(15)));
        keptAliveTwice(session);
        assertThat(c.names()).isEmpty();
        for (ScriptedMember member : List.of(a, b)) {
            member.comeBack();
            member.letGo();
        }
        assertThat(answered(extended)).isInstanceOf(Reply.Extended.class);
        // What is left of the lease before is less than this.
        time.advance(Duration.ofSeconds(8));
        keptAliveTwice(session);
        assertThat(c.names()).containsExactly("ledger");
        assertThat(c.remaining("ledger")).isBetween(Duration.ofSeconds(7), Duration.ofMillis(7_001));
    }

    @Test
    @DisplayName("Q9: a member that loses its data while the majority is asked does not count")
    void memberLosesItsDataDuringARepair() {
        SessionId session = session();
        loseDataDuringARepair(session);
        a.losesItsData();
        assertThat(keptAlive(session)).isInstanceOf(Reply.SessionAlive.class);
        assertThat(signals).contains("revoked ledger");
        assertThat(b.names()).as("what is left of a hold that is lost").isEmpty();
    }

    @Test
    @DisplayName("Q9: and regains the claim when it counts again")
    void memberThatLostItsDataDuringARepairRegainsIt() {
        SessionId session = session();
        loseDataDuringARepair(session);
        outlastKeepOut(session);
        assertThat(c.names()).containsExactly("ledger");
        assertThat(signals).isEmpty();
    }

    private void loseDataDuringARepair(SessionId session) {
        grantedAtTwo(acquire("ledger", session));
        keepsPolls();
        keptAliveTwice(session);
        assertThat(c.names()).containsExactly("ledger");
        c.losesItsData();
        keptAliveTwice(session);
        letsPollsGo();
        assertThat(c.names()).isEmpty();
    }

    @Test
    @DisplayName("Q9: a member that turns out to have lost its data counts no longer for what it had")
    void repairMeetsALoss() {
        SessionId session = session();
        Command.Acquire other = acquire("other", session);
        assertThat(isGranted(other)).isTrue();
        grantedAtTwo(acquire("ledger", session));
        a.forcesRelease("other");
        assertThat(state(other)).isInstanceOf(Reply.Granted.class);
        a.keepsCommands(command -> command instanceof Command.Acquire);
        c.listen(command -> {
            if (command instanceof Command.Acquire) {
                c.losesItsData();
            }
        });
        keptAlive(session);
        assertThat(signals).containsExactly("revoked other");
        assertThat(b.names()).containsExactly("ledger");
    }

    @Test
    @DisplayName("Q9: a repair that meets silence leaves nothing, and is repeated after a later keep-alive")
    void silenceEndsARepair() {
        assertThatSilenceEndsARepair(Command.Acquire.class, false);
        assertThatSilenceEndsARepair(Command.Advance.class, false);
        assertThatSilenceEndsARepair(Command.Poll.class, true);
    }

    private void assertThatSilenceEndsARepair(Class<? extends Command> kept, boolean isAtTheMajority) {
        a = member(Duration.ofHours(1));
        b = member(Duration.ofHours(1));
        c = member(Duration.ZERO);
        store = quorum(new QuorumRules());
        SessionId session = session();
        grantedAtTwo(acquire("ledger", session));
        List<ScriptedMember> silent = isAtTheMajority ? List.of(a, b) : List.of(c);
        silent.forEach(member -> member.keepsCommands(kept::isInstance));
        keptAliveTwice(session);
        time.advance(MEMBER_TIMEOUT.multipliedBy(8));
        silent.forEach(member -> {
            member.letGo();
            member.comeBack();
        });
        time.advance(MEMBER_TIMEOUT.multipliedBy(3));
        assertThat(c.names()).as("%s", kept).isEmpty();
        keptAliveTwice(session);
        assertThat(c.names()).as("%s", kept).containsExactly("ledger");
        assertThat(signals).isEmpty();
    }

    @Test
    @DisplayName("Q9: a repair that certainly had no effect is repeated at once")
    void failureEndsARepair() {
        SessionId session = session();
        grantedAtTwo(acquire("ledger", session));
        c.fails(command -> !(command instanceof Command.KeepAlive));
        keptAlive(session);
        c.comeBack();
        assertThat(c.names()).isEmpty();
        keptAlive(session);
        assertThat(c.names()).containsExactly("ledger");
    }

    @Test
    @DisplayName("Q9: a release ends at once what is being regained")
    void releaseEndsARepair() {
        SessionId session = session();
        Command.Acquire acquired = acquire("ledger", session);
        grantedAtTwo(acquired);
        keepsPolls();
        keptAliveTwice(session);
        assertThat(c.names()).containsExactly("ledger");
        release(acquired);
        assertThat(c.names()).isEmpty();
    }

    @Test
    @DisplayName("Q9: an audit ends nothing that is being regained")
    void auditDuringARepair() {
        SessionId session = session();
        Command.Acquire acquired = acquire("ledger", session);
        grantedAtTwo(acquired);
        keepsPolls();
        keptAliveTwice(session);
        assertThat(answered(send(new Command.Audit(session, Optional.empty(), 10))))
                .isEqualTo(new Reply.Audited(List.of(acquired.claim()), List.of(), Optional.empty()));
        assertThat(c.names()).containsExactly("ledger");
        letsPollsGo();
        assertThat(c.names()).containsExactly("ledger");
    }

    @Test
    @DisplayName("Q9: a member that already stands at the last token is not raised, and the majority is asked once")
    void memberAtTheLastTokenIsNotRaised() {
        // By this much time passes between the grant and the repair.
        c = member(MEMBER_TIMEOUT.multipliedBy(6).plus(MOMENT).negated());
        store = quorum(new QuorumRules());
        SessionId session = session();
        Command.Acquire acquired = acquire("ledger", session);
        grantedAtTwo(acquired);
        List<Command> sent = new ArrayList<>();
        for (ScriptedMember member : List.of(a, c)) {
            member.listen(command -> {
                if (command instanceof Command.Advance || command instanceof Command.Poll) {
                    sent.add(command);
                    assertThat(sent).hasSize(1);
                }
            });
        }
        keptAliveTwice(session);
        assertThat(c.names()).containsExactly("ledger");
        assertThat(sent).hasSize(1);
    }

    @Test
    @DisplayName("Q9: a member that refuses it is asked again, up to sixteen times and while the claim lasts")
    void memberThatRefusesIsAskedAgain() {
        SessionId session = session();
        SessionId other = session();
        Command.Acquire acquired = acquire("ledger", session);
        grantedAtTwo(acquired);
        // What is left of another's try: it was answered, and the release does not come through.
        c.keepsCommands(command -> command instanceof Command.Release);
        assertThat(isGranted(acquire("ledger", other))).isFalse();
        int[] asked = new int[1];
        c.listen(command -> asked[0] += command instanceof Command.Acquire ? 1 : 0);
        keptAliveTwice(session);
        assertThat(asked[0]).isEqualTo(1);
        time.advance(MEMBER_TIMEOUT);
        assertThat(asked[0]).isEqualTo(16);
        keptAlive(session);
        keptAlive(other);
        assertThat(asked[0]).as("after the next keep-alive").isEqualTo(17);
        c.letGo();
        time.advance(Duration.ofSeconds(2));
        c.comeBack();
        assertThat(c.names()).containsExactly("ledger");
        a.losesItsData();
        keptAlive(session);
        assertThat(signals).isEmpty();
    }

    @Test
    @DisplayName("Q9: a claim that is released between two tries is not claimed again, and keeps no other waiting")
    void releaseBetweenTries() {
        SessionId session = session();
        Command.Acquire acquired = acquire("ledger", session);
        grantedAtTwo(acquired);
        c.keepsCommands(command -> command instanceof Command.Release);
        assertThat(isGranted(acquire("ledger", session()))).isFalse();
        int[] asked = new int[1];
        c.listen(command -> asked[0] += command instanceof Command.Acquire ? 1 : 0);
        keptAliveTwice(session);
        release(acquired);
        time.advance(MEMBER_TIMEOUT.multipliedBy(3));
        assertThat(asked[0]).isEqualTo(1);
        c.letGo();
        grantedAtTwo(acquire("next", session));
        keptAliveTwice(session);
        assertThat(c.names()).contains("next");
    }

    @Test
    @DisplayName("Q9: a member that was away counts only when it stands at the tokens that were given meanwhile")
    void tokensGivenDuringARepair() {
        a = member(Duration.ofHours(1));
        b = member(Duration.ofHours(1));
        c = member(Duration.ZERO);
        ScriptedMember slow = member(Duration.ZERO);
        store = quorum(new QuorumRules());
        SessionId session = session();
        Command.Acquire acquired = acquire("ledger", session);
        grantedAtTwo(acquired);
        long first = ((Reply.Granted) state(acquired)).tokens().last();
        keepsPolls();
        keptAliveTwice(session);
        Command advance = new Command.Advance(acquired.claim(), first, 1, first + 1_000_000_000_000L);
        long last = ((Reply.Advanced) answered(send(advance))).tokens().last();
        letsPollsGo();
        assertThat(c.names()).containsExactly("ledger");
        release(acquired);
        a.setClock(slow);
        comesBackEmpty(a, session);
        b.cutOff();
        assertThat(token(acquire("ledger", session))).isGreaterThan(last);
    }

    /** The first two members grant it; the third is back, without a trace of it. */
    private void grantedAtTwo(Command.Acquire acquire) {
        c.cutOff();
        assertThat(isGranted(acquire)).isTrue();
        comesBack(c);
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
    }

    private void keptAliveTwice(SessionId session) {
        for (int i = 0; i < 2; i++) {
            assertThat(keptAlive(session)).isInstanceOf(Reply.SessionAlive.class);
        }
    }

    /** The majority's confirmations are under way until they are let go. */
    private void keepsPolls() {
        for (ScriptedMember member : List.of(a, b)) {
            member.keepsAnswers(command -> command instanceof Command.Poll);
        }
    }

    private void letsPollsGo() {
        for (ScriptedMember member : List.of(a, b)) {
            member.comeBack();
            member.letGo();
        }
    }

    @Test
    @DisplayName("Q9: a member that has granted it to another does not count")
    void memberOfAnotherDoesNotCount() {
        assertThat(isLostWithOneMemberOfAnother(new QuorumRules())).isTrue();
        assertThat(isLostWithOneMemberOfAnother(new QuorumRules() {
                    @Override
                    boolean heedsRefusals() {
                        return false;
                    }

                    @Override
                    boolean raisesRepaired() {
                        return false;
                    }
                }))
                .as("by a quorum that does not heed what the member says")
                .isFalse();
    }

    private boolean isLostWithOneMemberOfAnother(QuorumRules rules) {
        with(rules);
        signals.clear();
        SessionId session = session();
        SessionId other = session();
        c.cutOff();
        assertThat(isGranted(acquire("ledger", session))).isTrue();
        comesBack(c);
        // What is left of another's try: it was answered, and the release does not come through.
        c.keepsCommands(command -> command instanceof Command.Release);
        assertThat(isGranted(acquire("ledger", other))).isFalse();
        time.advance(MEMBER_TIMEOUT);
        keptAlive(other);
        keptAlive(session);
        keptAlive(session);
        time.advance(MEMBER_TIMEOUT);
        a.losesItsData();
        keptAlive(session);
        return signals.contains("revoked ledger");
    }

    @Test
    @DisplayName("Q9: a hold that had no majority for a while is not regained")
    void majorityMustNotHaveBeenInterrupted() {
        assertThat(isInterruptionCoveredUp(new QuorumRules())).isFalse();
        assertThat(isInterruptionCoveredUp(new QuorumRules() {
                    @Override
                    boolean confirmsRepaired() {
                        return false;
                    }
                }))
                .as("by a quorum that does not ask the majority")
                .isTrue();
    }

    /** One member ends the claim while another is asked for it: for that moment one of three had it. */
    private boolean isInterruptionCoveredUp(QuorumRules rules) {
        with(rules);
        SessionId session = session();
        c.cutOff();
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        comesBack(c);
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
        c.listen(command -> {
            if (command instanceof Command.Acquire acquire
                    && acquire.claim().resource().equals(acquired.claim().resource())) {
                b.forcesRelease("ledger");
            }
        });
        keptAlive(session);
        keptAlive(session);
        time.advance(MEMBER_TIMEOUT);
        c.listen(command -> {});
        return state(acquired) instanceof Reply.Granted;
    }

    // ---- As what it is regained

    @Test
    @DisplayName("Q9: a member that was away counts only when it stands at the last token that was given")
    void tokensAreRaised() {
        assertThat(isTokenLessAfterLosses(new QuorumRules())).isFalse();
        assertThat(isTokenLessAfterLosses(new QuorumRules() {
                    @Override
                    boolean raisesRepaired() {
                        return false;
                    }
                }))
                .as("by a quorum that takes members as they are")
                .isTrue();
    }

    private boolean isTokenLessAfterLosses(QuorumRules rules) {
        a = member(Duration.ofHours(1));
        b = member(Duration.ofHours(1));
        c = member(Duration.ZERO);
        ScriptedMember slow = member(Duration.ZERO);
        store = quorum(rules);
        SessionId session = session();
        Command.Acquire acquired = acquire("ledger", session);
        long token = token(acquired);
        // The two that stand at it lose their counters, and come back with clocks that are an hour behind.
        a.setClock(slow);
        comesBackEmpty(a, session);
        b.setClock(slow);
        comesBackEmpty(b, session);
        release(acquired);
        return token(acquire("ledger", session)) <= token;
    }

    @Test
    @DisplayName("Q9: a write hold that became a read hold is regained as a read hold")
    void whatWasGivenBackIsNotRegained() {
        SessionId session = session();
        SessionId reader = session();
        Command.Acquire writer = acquireBoth(session, Integer.MAX_VALUE, 1_000);
        assertThat(isGranted(writer)).isTrue();
        assertThat(answered(send(new Command.ShrinkTo(writer.claim(), 1)))).isInstanceOf(Reply.Done.class);
        comesBackEmpty(a, session, reader);
        comesBackEmpty(b, session, reader);
        comesBackEmpty(c, session, reader);
        assertThat(isGranted(acquireBoth(reader, 1, 1_001))).isTrue();
        assertThat(signals).isEmpty();
    }

    @Test
    @DisplayName("Q9: a read hold beside others and a write hold are regained as such")
    void sharesAreRegained() {
        SessionId session = session();
        SessionId reader = session();
        Command.Acquire one = acquireBoth(session, 1, 1_000);
        Command.Acquire two = acquireBoth(reader, 1, 1_001);
        assertThat(isGranted(one)).isTrue();
        assertThat(isGranted(two)).isTrue();
        for (ScriptedMember member : List.of(a, b, c)) {
            comesBackEmpty(member, session, reader);
        }
        assertThat(signals).isEmpty();
        assertThat(isGranted(acquireBoth(reader, Integer.MAX_VALUE, 1_002))).isFalse();
        release(one);
        release(two);
        Command.Acquire writer = acquireBoth(reader, Integer.MAX_VALUE, 1_003);
        assertThat(isGranted(writer)).isTrue();
        for (ScriptedMember member : List.of(a, b, c)) {
            comesBackEmpty(member, session, reader);
        }
        assertThat(signals).isEmpty();
        assertThat(isGranted(acquireBoth(session, 1, 1_004))).isFalse();
    }

    @Test
    @DisplayName("Q9: a lease of its own is regained as long as it is, and extended everywhere after that")
    void leaseIsRegainedAsItIs() {
        for (Lease.Binding binding : List.of(Lease.Binding.BOUNDED, Lease.Binding.DETACHED)) {
            with(new QuorumRules());
            SessionId session = session();
            c.cutOff();
            Command.Acquire acquired = acquire("ledger", session, new Lease(binding, Duration.ofSeconds(20)));
            assertThat(isGranted(acquired)).isTrue();
            comesBack(c);
            time.advance(Duration.ofSeconds(9));
            keptAlive(session);
            keptAlive(session);
            assertThat(c.names()).as("%s", binding).containsExactly("ledger");
            Duration left = ((Reply.Granted) state(acquired)).remaining().orElseThrow();
            assertThat(c.remaining("ledger")).isBetween(left, left.plusMillis(1));
            var unused = answered(send(new Command.Extend(acquired.claim(), 1, Duration.ofSeconds(15))));
            assertThat(c.remaining("ledger")).isEqualTo(Duration.ofSeconds(15));
            a.losesItsData();
            keptAlive(session);
            assertThat(((Reply.Granted) state(acquired)).remaining()).contains(Duration.ofSeconds(15));
        }
    }

    // ---- What is seen of it

    @Test
    @DisplayName("Q9: an operator sees whether a member counts, and what it has yet to regain")
    void membersAreTold() {
        SessionId session = session();
        assertThat(isGranted(acquire("ledger", session))).isTrue();
        assertThat(isGranted(acquire("other", session))).isTrue();
        assertThat(members()).allMatch(MemberStatus::isComplete);
        c.cutOff();
        MemberStatus cutOff = members().get(2);
        assertThat(cutOff.problem().orElseThrow()).contains("did not answer within");
        assertThat(cutOff.isComplete()).isFalse();
        c.dropKept();
        c.comeBack();
        c.losesItsData();
        MemberStatus empty = members().get(2);
        assertThat(empty.problem().orElseThrow()).contains("no client has noticed");
        assertThat(empty.missing()).isEqualTo(2);
        keptAlive(session);
        keptAlive(session);
        MemberStatus keptOut = members().get(2);
        assertThat(keptOut.problem()).isEmpty();
        assertThat(keptOut.keptOutFor()).isEqualTo(LONGEST.plus(LONGEST.dividedBy(10)));
        assertThat(keptOut.missing()).isEqualTo(2);
        assertThat(keptOut.isComplete()).isFalse();
        assertThat(members().subList(0, 2)).allMatch(MemberStatus::isComplete);
        outlastKeepOut(session);
        assertThat(members()).allMatch(MemberStatus::isComplete);
        assertThat(members().get(2).present()).isEqualTo(2);
        c.cutOff();
        CompletableFuture<List<MemberStatus>> asked = store.members().toCompletableFuture();
        store.close();
        assertThat(asked).isCompletedExceptionally();
    }

    private List<MemberStatus> members() {
        CompletableFuture<List<MemberStatus>> asked = store.members().toCompletableFuture();
        if (!asked.isDone()) {
            time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        }
        assertThat(asked).isCompleted();
        return asked.join();
    }

    @Test
    @DisplayName("Q9: what was regained is one holder to every connection, and ends everywhere by force")
    void regainedIsOneHolder() {
        SessionId session = session();
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        comesBackEmpty(a, session);
        comesBackEmpty(b, session);
        QuorumStore other = quorum(new QuorumRules());
        for (QuorumStore each : List.of(store, other)) {
            Command polled = new Command.Inspect("", Optional.empty(), 10);
            Reply reply = answered(
                    each.execute(polled, dev.holdfast.spi.CallerMode.ASYNC).toCompletableFuture());
            List<ResourceInfo> all = ((Reply.Inspected) reply).resources();
            assertThat(all).hasSize(1);
            assertThat(all.get(0).holders()).hasSize(1);
        }
        assertThat(inTime(new Command.Audit(session, Optional.empty(), 10)))
                .isEqualTo(new Reply.Audited(List.of(acquired.claim()), List.of(), Optional.empty()));
        long shown = ((Reply.Granted) state(acquired)).tokens().first();
        assertThat(inTime(new Command.ForceRelease(new ResourceName("ledger"), shown)))
                .isInstanceOf(Reply.Released.class);
        time.advance(MEMBER_TIMEOUT);
        for (ScriptedMember member : List.of(a, b, c)) {
            assertThat(member.names()).isEmpty();
        }
    }
}
