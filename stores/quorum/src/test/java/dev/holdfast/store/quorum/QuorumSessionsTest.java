package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How sessions begin and end at the members, and how long what has ended is settled there. */
class QuorumSessionsTest extends ScriptedQuorum {

    // ---- Sessions

    private void assertThatItIsDenied(CompletableFuture<Reply> future) {
        assertThat(future)
                .isCompletedExceptionally()
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        StoreException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(StoreException.Reason.DENIED));
    }

    @Test
    @DisplayName("No session is longer than the time for which a member without its data is kept out")
    void sessionIsLimited() {
        assertThat(answered(send(new Command.OpenSession(LONGEST, "test")))).isInstanceOf(Reply.SessionOpened.class);
        assertThatItIsDenied(send(new Command.OpenSession(LONGEST.plusNanos(1), "test")));
    }

    @Test
    @DisplayName("The ttl of a session is rounded up to what all members support")
    void ttlIsRoundedUp() {
        assertThat(ttlOf(TTL)).isEqualTo(TTL);
        a.declares(traits ->
                traits.toBuilder().minSessionTtl(Duration.ofSeconds(3)).build());
        b.declares(traits ->
                traits.toBuilder().ttlGranularity(Duration.ofSeconds(2)).build());
        store = quorum(new QuorumRules());
        assertThat(ttlOf(Duration.ofMillis(1))).isEqualTo(Duration.ofSeconds(4));
        assertThat(ttlOf(Duration.ofSeconds(4))).isEqualTo(Duration.ofSeconds(4));
        assertThat(ttlOf(Duration.ofMillis(4_001))).isEqualTo(Duration.ofSeconds(6));
    }

    private Duration ttlOf(Duration asked) {
        return ((Reply.SessionOpened) answered(send(new Command.OpenSession(asked, "test")))).ttl();
    }

    @Test
    @DisplayName("Clients that disagree about the longest lease share no quorum, and leave nothing")
    void otherLongestLease() {
        session();
        store = quorum(new QuorumRules(), LONGEST.plusSeconds(1), a, b, c);
        List<Command> sent = new ArrayList<>();
        a.listen(sent::add);
        assertThatItIsDenied(send(new Command.OpenSession(TTL, "test")));
        assertThat(sent).hasAtLeastOneElementOfType(Command.CloseSession.class);
    }

    @Test
    @DisplayName("A member that fails prevents no session, and gets one with the next keep-alive")
    void sessionWithoutOneMember() {
        session();
        a.fails(command -> true);
        SessionId session = session();
        a.comeBack();
        keptAlive(session);
        c.cutOff();
        assertThat(isGranted(acquire("ledger", session))).isTrue();
    }

    @Test
    @DisplayName("One of five that fails while another has yet to answer gets a session too")
    void sessionWithoutTwoMembers() {
        ScriptedMember d = member(Duration.ZERO);
        ScriptedMember e = member(Duration.ZERO);
        store = quorum(new QuorumRules(), LONGEST, a, b, c, d, e);
        session();
        a.fails(command -> true);
        e.keepsCommands(command -> true);
        SessionId session = session();
        a.comeBack();
        keptAlive(session);
        d.cutOff();
        assertThat(isGranted(acquire("ledger", session))).isTrue();
    }

    @Test
    @DisplayName("A member that is slow to open a session gets one, and the others get another when it has ended")
    void sessionAtASlowMember() {
        session();
        c.keepsCommands(Command.OpenSession.class::isInstance);
        SessionId session = session();
        List<Command> sent = new ArrayList<>();
        c.listen(sent::add);
        keptAlive(session);
        assertThat(sent).as("while it has yet to answer").isEmpty();
        c.comeBack();
        c.letGo();
        a.losesItsData();
        keptAlive(session);
        a.listen(sent::add);
        keptAlive(session);
        assertThat(sent).hasAtLeastOneElementOfType(Command.OpenSession.class);
    }

    @Test
    @DisplayName("A member counts only after it has shown that it has kept its data")
    void memberIsVerifiedWithAKeepAlive() {
        session();
        c.fails(Command.Inspect.class::isInstance);
        SessionId session = session();
        c.comeBack();
        a.cutOff();
        assertThat(isGranted(acquire("before", session))).isFalse();
        keptAlive(session);
        assertThat(isGranted(acquire("after", session))).isTrue();
    }

    @Test
    @DisplayName("Nothing is granted to a session that was retired during the attempt")
    void retirementDuringAnAttempt() {
        SessionId session = session();
        for (ScriptedMember member : List.of(b, c)) {
            member.keepsAnswers(Command.Acquire.class::isInstance);
        }
        CompletableFuture<Reply> reply = send(acquire("ledger", session));
        assertThat(answered(send(new Command.Retire(session)))).isInstanceOf(Reply.Done.class);
        assertThat(reply).isCompletedExceptionally();
        assertThat(a.names()).isEmpty();
        b.letGo();
        c.letGo();
        assertThat(b.names()).isEmpty();
        assertThat(c.names()).isEmpty();
    }

    @Test
    @DisplayName("A claim under way is answered when its client closes the session")
    void closeDuringAnAttempt() {
        SessionId session = session();
        for (ScriptedMember member : List.of(b, c)) {
            member.keepsAnswers(Command.Acquire.class::isInstance);
        }
        CompletableFuture<Reply> reply = send(acquire("ledger", session));
        assertThat(answered(send(new Command.CloseSession(session)))).isInstanceOf(Reply.Done.class);
        assertThat(answered(reply)).isInstanceOf(Reply.SessionEnded.class);
    }

    @Test
    @DisplayName("The end of a session that a majority does not answer has an unknown effect")
    void closeWithoutAMajority() {
        SessionId session = session();
        b.cutOff();
        c.cutOff();
        CompletableFuture<Reply> closed = send(new Command.CloseSession(session));
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        assertThat(closed).as("while it is sent again").isNotDone();
        time.advance(MEMBER_TIMEOUT);
        assertThatEffectIsUnknown(closed);
    }

    @Test
    @DisplayName("What is under way for a session is answered when the session ends")
    void sessionEndsDuringAnAttempt() {
        for (Lease lease : List.of(Lease.SESSION, Lease.detached(LONGEST))) {
            with(new QuorumRules());
            SessionId session = session();
            for (ScriptedMember member : List.of(a, b, c)) {
                member.keepsAnswers(Command.Acquire.class::isInstance);
            }
            CompletableFuture<Reply> reply = send(acquire("ledger", session, lease));
            a.losesItsData();
            b.losesItsData();
            assertThat(keptAlive(session)).isInstanceOf(Reply.SessionEnded.class);
            assertThat(answered(reply)).isInstanceOf(Reply.SessionEnded.class);
            c.letGo();
            assertThat(c.names()).isEmpty();
        }
    }

    @Test
    @DisplayName("A detached grant is kept by the members that have it when its session ends")
    void detachedGrantOutlivesItsSession() {
        SessionId session = session();
        assertThat(isGranted(acquire("ledger", session, Lease.detached(LONGEST))))
                .isTrue();
        a.losesItsData();
        b.losesItsData();
        assertThat(keptAlive(session)).isInstanceOf(Reply.SessionEnded.class);
        assertThat(c.names()).containsExactly("ledger");
    }

    @Test
    @DisplayName("An id that names a session at no member is that of an ended one")
    void sessionAtNoMember() {
        SessionId session = new SessionId("q1,,,");
        assertThat(keptAlive(session)).isInstanceOf(Reply.SessionEnded.class);
        assertThat(answered(send(acquire("ledger", session)))).isInstanceOf(Reply.SessionEnded.class);
    }

    @Test
    @DisplayName("A session that can't be opened at a majority is closed where it was opened")
    void sessionWithoutAMajority() {
        session();
        b.cutOff();
        c.cutOff();
        List<Command> sent = new ArrayList<>();
        a.listen(sent::add);
        CompletableFuture<Reply> opened = send(new Command.OpenSession(TTL, "test"));
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        assertThat(opened).isCompletedExceptionally();
        assertThat(sent).hasAtLeastOneElementOfType(Command.CloseSession.class);
    }

    @Test
    @DisplayName("A session that opens at a member after it was closed, or after the time-out, is closed there")
    void sessionThatOpensLate() {
        session();
        c.keepsAnswers(Command.OpenSession.class::isInstance);
        assertThat(answered(send(new Command.CloseSession(session())))).isInstanceOf(Reply.Done.class);
        List<Command> sent = new ArrayList<>();
        c.listen(sent::add);
        c.letGo();
        assertThat(sent).hasAtLeastOneElementOfType(Command.CloseSession.class);
        session();
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        sent.clear();
        c.letGo();
        assertThat(sent).hasAtLeastOneElementOfType(Command.CloseSession.class);
    }

    @Test
    @DisplayName("A keep-alive fails when its response time-out has passed, even if that of other commands is longer")
    void responseTimeoutOfAKeepAlive() {
        SessionId session = session();
        b.cutOff();
        c.cutOff();
        CompletableFuture<Reply> renewed = send(new Command.KeepAlive(session, 0, Duration.ofMillis(200)));
        time.advance(Duration.ofMillis(199));
        assertThat(renewed).isNotDone();
        time.advance(Duration.ofMillis(1));
        assertThatEffectIsUnknown(renewed);
    }

    @Test
    @DisplayName("A member that throws counts as one that has failed")
    void memberThatThrows() {
        SessionId session = session();
        throwsAlways(c);
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        throwsAlways(b);
        assertThat(send(new Command.Poll(List.of(acquired.claim()))))
                .as("without a time-out")
                .isCompletedExceptionally();
    }

    private static void throwsAlways(ScriptedMember member) {
        member.listen(command -> {
            throw new IllegalStateException("a defect of the driver");
        });
    }

    @Test
    @DisplayName("A store that was closed signals nothing")
    void closedStore() {
        SessionId session = session();
        assertThat(isGranted(acquire("ledger", session))).isTrue();
        for (ScriptedMember member : List.of(a, b)) {
            member.losesItsData();
            member.keepsAnswers(Command.KeepAlive.class::isInstance);
        }
        CompletableFuture<Reply> renewed = send(new Command.KeepAlive(session, 0));
        store.close();
        assertThat(renewed).isCompletedExceptionally();
        a.letGo();
        b.letGo();
        assertThat(signals).isEmpty();
    }

    @Test
    @DisplayName("What is stale is answered with that as soon as a majority says that the session is alive")
    void staleCommand() {
        SessionId session = session();
        assertThat(answered(send(new Command.KeepAlive(session, 1)))).isInstanceOf(Reply.SessionAlive.class);
        c.cutOff();
        assertThat(answered(send(acquire("ledger", session)))).isInstanceOf(Reply.Stale.class);
        b.cutOff();
        CompletableFuture<Reply> stale = send(acquire("ledger", session));
        assertThat(stale).as("while another may have ended the session").isNotDone();
        time.advance(MEMBER_TIMEOUT);
        assertThat(answered(stale)).isInstanceOf(Reply.Stale.class);
        b.dropKept();
        b.comeBack();
        a.losesItsData();
        b.losesItsData();
        assertThat(answered(send(acquire("ledger", session)))).isInstanceOf(Reply.SessionEnded.class);
        assertThat(signals).containsExactly("ended");
    }

    @Test
    @DisplayName("A repeated request for a detached grant is answered with the end of its session")
    void repeatedRequestForADetachedGrant() {
        SessionId session = session();
        Command.Acquire detached = acquire("ledger", session, Lease.detached(LONGEST));
        Reply granted = answered(send(detached));
        assertThat(answered(send(detached))).isEqualTo(granted);
        QuorumStore owner = store;
        store = quorum(new QuorumRules());
        assertThat(answered(send(new Command.CloseSession(session)))).isInstanceOf(Reply.Done.class);
        store = owner;
        assertThat(answered(send(detached))).isInstanceOf(Reply.SessionEnded.class);
    }

    @Test
    @DisplayName("A release after the session has certainly ended is Absent, and asks no member")
    void releaseAfterTheSession() {
        Command.Acquire acquired = acquire("ledger", session());
        assertThat(isGranted(acquired)).isTrue();
        time.advance(TTL.multipliedBy(2).plus(MOMENT));
        List<Command> sent = new ArrayList<>();
        List.of(a, b, c).forEach(member -> member.listen(sent::add));
        assertThat(answered(send(new Command.Release(acquired.claim())))).isInstanceOf(Reply.Absent.class);
        assertThat(sent).isEmpty();
    }

    // ---- The beginning

    @Test
    @DisplayName("A new quorum opens no session before all members have answered; then all of them count")
    void newQuorumAwaitsAllMembers() {
        c.cutOff();
        CompletableFuture<Reply> opened = send(new Command.OpenSession(TTL, "test"));
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        assertThat(opened).isCompletedExceptionally();
        c.dropKept();
        c.comeBack();
        c.fails(Command.Inspect.class::isInstance);
        assertThat(send(new Command.OpenSession(TTL, "test"))).isCompletedExceptionally();
        c.comeBack();
        SessionId session = session();
        b.cutOff();
        assertThat(isGranted(acquire("ledger", session))).isTrue();
    }

    @Test
    @DisplayName("A member without its data does not count, though it answers before those that have kept theirs")
    void emptyMemberAnswersFirst() {
        session();
        b.losesItsData();
        for (ScriptedMember member : List.of(a, c)) {
            member.keepsAnswers(Command.Inspect.class::isInstance);
        }
        CompletableFuture<Reply> opened = send(new Command.OpenSession(TTL, "test"));
        assertThat(opened).isNotDone();
        for (ScriptedMember member : List.of(a, c)) {
            member.comeBack();
            member.letGo();
        }
        SessionId session = ((Reply.SessionOpened) answered(opened)).session();
        a.cutOff();
        assertThat(isGranted(acquire("ledger", session))).isFalse();
    }

    @Test
    @DisplayName("Two clients may start a quorum at the same time")
    void twoClientsStart() {
        List<ScriptedMember> all = List.of(a, b, c);
        all.forEach(member -> member.keepsCommands(Command.Acquire.class::isInstance));
        CompletableFuture<Reply> one = send(new Command.OpenSession(TTL, "one"));
        CompletableFuture<Reply> two = send(new Command.OpenSession(TTL, "two"));
        all.forEach(ScriptedMember::comeBack);
        all.forEach(ScriptedMember::letGo);
        assertThat(answered(one)).isInstanceOf(Reply.SessionOpened.class);
        assertThat(answered(two)).isInstanceOf(Reply.SessionOpened.class);
    }

    @Test
    @DisplayName("A member that could not be marked is marked with a later keep-alive")
    void memberIsMarkedLater() {
        c.fails(Command.Acquire.class::isInstance);
        SessionId session = session();
        c.comeBack();
        assertThat(status(2).problem()).isPresent();
        keptAlive(session);
        assertThat(status(2).problem()).isEmpty();
    }

    private MemberStatus status(int member) {
        CompletableFuture<List<MemberStatus>> asked = store.members().toCompletableFuture();
        assertThat(asked).isCompleted();
        return asked.join().get(member);
    }

    @Test
    @DisplayName("A member of a quorum of another size is refused")
    void otherSize() {
        session();
        store = quorum(new QuorumRules(), LONGEST, a, b, c, member(Duration.ZERO), member(Duration.ZERO));
        assertThatItIsDenied(send(new Command.OpenSession(TTL, "test")));
    }

    // ---- Forced releases

    @Test
    @DisplayName(
            "A forced release by another connection is done when too few members for a majority may have the grant")
    void forcedRelease() {
        Command.Acquire acquired = acquire("ledger", session());
        long token = token(acquired);
        QuorumStore owner = store;
        store = quorum(new QuorumRules());
        assertThat(answered(send(forceRelease(token + 1)))).isInstanceOf(Reply.Absent.class);
        assertThat(answered(send(forceRelease(token - 1)))).isInstanceOf(Reply.Absent.class);
        c.cutOff();
        b.fails(Command.ForceRelease.class::isInstance);
        CompletableFuture<Reply> unknown = send(forceRelease(token));
        time.advance(MEMBER_TIMEOUT);
        assertThatEffectIsUnknown(unknown);
        b.comeBack();
        c.dropKept();
        c.comeBack();
        assertThat(inTime(forceRelease(token))).isInstanceOf(Reply.Released.class);
        store = owner;
        assertThat(state(acquired)).isInstanceOf(Reply.Absent.class);
        assertThat(signals).containsExactly("revoked ledger");
    }

    @Test
    @DisplayName("A forced release by the owner's connection ends the grant at all members, and notifies the owner")
    void forcedReleaseOfOnesOwn() {
        Command.Acquire acquired = acquire("ledger", session());
        long token = token(acquired);
        assertThat(answered(send(forceRelease(token + 1)))).isInstanceOf(Reply.Absent.class);
        assertThat(answered(send(forceRelease(token - 1)))).isInstanceOf(Reply.Absent.class);
        c.fails(Command.ForceRelease.class::isInstance);
        assertThat(answered(send(forceRelease(token)))).isInstanceOf(Reply.Released.class);
        assertThat(signals).containsExactly("revoked ledger");
        assertThat(c.names()).isEmpty();
    }

    private static Command forceRelease(long token) {
        return new Command.ForceRelease(new ResourceName("ledger"), token);
    }

    // ---- Audits

    @Test
    @DisplayName("An audit finds what members have lost, and ends what they should not have")
    void audit() {
        SessionId session = session();
        List<Command.Acquire> asked = new ArrayList<>();
        c.listen(command -> {
            if (command instanceof Command.Acquire acquire) {
                asked.add(acquire);
            }
        });
        Command.Acquire lost = acquire("lost", session);
        Command.Acquire kept = acquire("kept", session);
        assertThat(isGranted(lost)).isTrue();
        assertThat(isGranted(kept)).isTrue();
        a.forcesRelease("lost");
        b.forcesRelease("lost");
        Command.Acquire same = asked.get(0);
        ClaimRef stray = new ClaimRef(
                new ResourceName("stray"), same.claim().session(), same.claim().claim() + 1);
        Command duplicate = new Command.Acquire(
                stray,
                same.epoch(),
                Command.Sending.FIRST,
                ResourceSpec.MUTEX,
                1,
                Lease.SESSION,
                Command.Waiting.TRY,
                1);
        assertThat(c.execute(duplicate, CallerMode.ASYNC)).isCompleted();
        assertThat(c.names()).contains("stray");
        assertThat(audited(session)).isEqualTo(new Reply.Audited(List.of(kept.claim()), List.of(), Optional.empty()));
        assertThat(signals).containsExactly("revoked lost");
        for (int i = 0; i < 3; i++) {
            assertThat(List.of(a, b, c).get(i).names()).containsExactly("kept");
            assertThat(status(i).isComplete())
                    .as("its marker and all it should have")
                    .isTrue();
        }
    }

    @Test
    @DisplayName("An audit is what a majority reports")
    void auditByAMajority() {
        SessionId session = session();
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        c.cutOff();
        assertThat(audited(session))
                .isEqualTo(new Reply.Audited(List.of(acquired.claim()), List.of(), Optional.empty()));
        b.cutOff();
        CompletableFuture<Reply> unknown = send(new Command.Audit(session, Optional.empty(), 10));
        time.advance(MEMBER_TIMEOUT);
        assertThat(unknown).isCompletedExceptionally();
    }

    @Test
    @DisplayName("An audit lists claims in pages, and asks members only for the first page")
    void auditInPages() {
        SessionId session = session();
        List<ClaimRef> claims = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Command.Acquire acquired = acquire("ledger/" + i, session);
            assertThat(isGranted(acquired)).isTrue();
            claims.add(acquired.claim());
        }
        assertThat(answered(send(new Command.Audit(session, Optional.empty(), 3))))
                .isEqualTo(new Reply.Audited(claims, List.of(), Optional.empty()));
        Reply.Audited first = (Reply.Audited) answered(send(new Command.Audit(session, Optional.empty(), 2)));
        assertThat(first.granted()).isEqualTo(claims.subList(0, 2));
        assertThat(first.cursor()).isPresent();
        List.of(a, b, c).forEach(ScriptedMember::cutOff);
        assertThat(answered(send(new Command.Audit(session, first.cursor(), 2))))
                .isEqualTo(new Reply.Audited(claims.subList(2, 3), List.of(), Optional.empty()));
    }

    @Test
    @DisplayName("Also by another connection, an audit lists all that a majority has")
    void auditByAnotherConnection() {
        SessionId session = session();
        List<ClaimRef> claims = new ArrayList<>();
        // More than members are asked for at once.
        for (int i = 0; i < 501; i++) {
            Command.Acquire acquired = acquire("ledger/" + i, session);
            assertThat(isGranted(acquired)).isTrue();
            claims.add(acquired.claim());
        }
        Command.Audit whole = new Command.Audit(session, Optional.empty(), 1_000);
        assertThat(answered(send(whole))).isEqualTo(new Reply.Audited(claims, List.of(), Optional.empty()));
        store = quorum(new QuorumRules());
        Reply.Audited others = (Reply.Audited) answered(send(whole));
        assertThat(others.granted()).containsExactlyInAnyOrderElementsOf(claims);
        assertThat(others.waiting()).isEmpty();
        b.cutOff();
        c.cutOff();
        CompletableFuture<Reply> unknown = send(new Command.Audit(session, Optional.empty(), 10));
        time.advance(MEMBER_TIMEOUT);
        assertThat(unknown).isCompletedExceptionally();
    }

    @Test
    @DisplayName("An audit by another connection that has renewed the session lists what waits there too")
    void auditOfWhatWaits() {
        assertThat(isGranted(acquire("ledger", session()))).isTrue();
        SessionId session = session();
        store = quorum(new QuorumRules());
        assertThat(keptAlive(session)).isInstanceOf(Reply.SessionAlive.class);
        Command.Acquire held = acquire("other", session);
        assertThat(isGranted(held)).isTrue();
        Command.Acquire waits = waits(acquire("ledger", session));
        assertThat(answered(send(waits))).isInstanceOf(Reply.Queued.class);
        assertThat(audited(session))
                .isEqualTo(new Reply.Audited(List.of(held.claim()), List.of(waits.claim()), Optional.empty()));
    }

    @Test
    @DisplayName("A claim that yields is released at the members as one that may be annotated")
    void yieldOfAnAnnotatedClaim() {
        SessionId session = session();
        Command.Acquire held = acquire("ledger", session);
        assertThat(isGranted(held)).isTrue();
        List<Command> sent = new ArrayList<>();
        c.listen(sent::add);
        Command.Acquire next = waits(acquire("ledger", session));
        assertThat(answered(send(new Command.Yield(held.claim(), next, true)))).isInstanceOf(Reply.Queued.class);
        assertThat(sent)
                .singleElement()
                .isInstanceOfSatisfying(
                        Command.Release.class,
                        release -> assertThat(release.isAnnotated()).isTrue());
    }

    private Reply audited(SessionId session) {
        return inTime(new Command.Audit(session, Optional.empty(), 10));
    }

    // ---- Silent members

    @Test
    @DisplayName("A release is sent to a silent member until the session has certainly ended there")
    void releaseIsRepeated() {
        time.advance(TTL.dividedBy(2));
        Command.Acquire acquired = acquire("ledger", session());
        assertThat(isGranted(acquired)).isTrue();
        c.cutOff();
        release(acquired);
        assertThatItIsRepeatedFor(TTL.multipliedBy(2), Command.Release.class);
    }

    @Test
    @DisplayName("A release of a detached grant is sent until its lease has certainly ended too")
    void detachedReleaseIsRepeated() {
        time.advance(TTL.dividedBy(2));
        Command.Acquire detached = acquire("ledger", session(), Lease.detached(LONGEST));
        assertThat(isGranted(detached)).isTrue();
        c.cutOff();
        release(detached);
        assertThatItIsRepeatedFor(TTL.plus(LONGEST).multipliedBy(2), Command.Release.class);
    }

    @Test
    @DisplayName("The end of a session is sent to a silent member until it has certainly ended there")
    void endOfASessionIsRepeated() {
        SessionId retired = session();
        SessionId closed = session();
        c.cutOff();
        Command.Acquire acquired = acquire("ledger", retired);
        assertThat(isGranted(acquired)).isTrue();
        release(acquired);
        assertThat(answered(send(new Command.Retire(retired)))).isInstanceOf(Reply.Done.class);
        assertThat(answered(send(new Command.CloseSession(closed)))).isInstanceOf(Reply.Done.class);
        assertThatItIsRepeatedFor(TTL.multipliedBy(2), Command.Retire.class, Command.CloseSession.class);
    }

    /** The third member is sent such commands again and again, for this time and not for longer. */
    @SafeVarargs
    private void assertThatItIsRepeatedFor(Duration duration, Class<? extends Command>... types) {
        Map<Class<?>, Integer> sent = new HashMap<>();
        c.listen(command -> sent.merge(command.getClass(), 1, Integer::sum));
        // Longer than the longest pause between two of them.
        Duration pause = MEMBER_TIMEOUT.multipliedBy(3);
        time.advance(duration.minus(pause));
        sent.clear();
        time.advance(pause);
        assertThat(sent).containsOnlyKeys(types);
        time.advance(pause);
        sent.clear();
        time.advance(pause.multipliedBy(5));
        assertThat(sent).isEmpty();
    }

    @Test
    @DisplayName("A claim that ends when members have nothing of it is forgotten at once")
    void forgotten() {
        Quorum quorum = new Quorum(time, new QuorumRules(), MEMBER_TIMEOUT, LONGEST);
        QuorumSession session = new QuorumSession(new SessionId("q1"), "1", "test", TTL, new MemberSession[3]);
        Command.Acquire request = acquire("ledger", session.id);
        QuorumClaim claim = new QuorumClaim(1, session, request.claim(), request.lease(), request);
        session.claims.put(claim.ref, claim);
        quorum.drop(claim);
        assertThat(session.claims).isEmpty();
    }

    @Test
    @DisplayName("Nothing is left to settle at a member that has lost its data")
    void lossOfDataSettlesAnAttempt() {
        SessionId session = session();
        c.keepsCommands(Command.Acquire.class::isInstance);
        Command.Acquire acquired = acquire("ledger", session);
        assertThat(isGranted(acquired)).isTrue();
        c.losesItsData();
        release(acquired);
        time.advance(MEMBER_TIMEOUT.plus(MOMENT));
        List<Command> sent = new ArrayList<>();
        c.listen(sent::add);
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
        assertThat(sent).isEmpty();
    }

    @Test
    @DisplayName("The end of a session is not repeated at a member that was closed")
    void closedMember() {
        SessionId session = session();
        c.fails(command -> true, StoreException.Reason.CLOSED);
        List<Command> sent = new ArrayList<>();
        c.listen(sent::add);
        assertThat(answered(send(new Command.CloseSession(session)))).isInstanceOf(Reply.Done.class);
        time.advance(MEMBER_TIMEOUT.multipliedBy(5));
        assertThat(sent).hasSize(1);
    }

    @Test
    @DisplayName("What a member fails at once is repeated with longer and longer pauses")
    void failuresAreRepeatedWithPauses() {
        SessionId session = session();
        Command.Acquire known = acquire("ledger", session);
        Command.Acquire unknown = acquire("other", session);
        assertThat(isGranted(known)).isTrue();
        c.keepsCommands(Command.Acquire.class::isInstance);
        assertThat(isGranted(unknown)).isTrue();
        c.fails(command -> true);
        Map<Class<?>, Integer> sent = new HashMap<>();
        c.listen(command -> assertThat(sent.merge(command.getClass(), 1, Integer::sum))
                .as("%s", command)
                .isLessThan(30));
        release(known);
        time.advance(Duration.ofSeconds(9));
        assertThat(sent).containsOnlyKeys(Command.Release.class, Command.KeepAlive.class);
        assertThat(answered(send(new Command.CloseSession(session)))).isInstanceOf(Reply.Done.class);
        time.advance(Duration.ofSeconds(9));
        assertThat(sent).containsKey(Command.CloseSession.class);
        assertThat(sent.values()).allMatch(count -> count > 8);
    }
}
