package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.DamagedRecord;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What members report is joined:")
class QuorumInspectionTest extends ScriptedQuorum {

    private static final ResourceSpec SHARED = new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, Order.FAIR);
    private static final Inspect ALL = new Inspect("", Optional.empty(), 100);

    private List<Party> holders(Inspect command) {
        return inspected(command).resources().stream()
                .flatMap(info -> info.holders().stream())
                .toList();
    }

    private Reply.Inspected inspected(Inspect command) {
        return (Reply.Inspected) answered(send(command));
    }

    private static Reply at(ScriptedMember member, Command command) {
        return member.execute(command, CallerMode.BLOCKING)
                .toCompletableFuture()
                .join();
    }

    private static Reply.Inspected reportOf(ScriptedMember member) {
        return (Reply.Inspected) at(member, new Inspect("ledger", Optional.empty(), 100));
    }

    /** Acquires the ledger at one member, as an attempt of a client does; returns the last token. */
    private static long hold(ScriptedMember member, String nonce, long memberClaim) {
        Reply opened = at(member, new Command.OpenSession(TTL, MemberIds.label("test", nonce)));
        SessionId session = ((Reply.SessionOpened) opened).session();
        Reply granted = at(
                member,
                new Command.Acquire(
                        new ClaimRef(new ResourceName("ledger"), session, memberClaim),
                        0,
                        Command.Sending.FIRST,
                        ResourceSpec.MUTEX,
                        1,
                        Lease.SESSION,
                        Command.Waiting.TRY,
                        1));
        return ((Reply.Granted) granted).tokens().last();
    }

    @Test
    @DisplayName("parts of several attempts of a claim are not a majority, unless some of it was regained")
    void attempts() {
        String nonce = MemberIds.nonce(1);
        long one = hold(a, nonce, MemberIds.claim(5, 1, 0));
        long two = hold(b, nonce, MemberIds.claim(5, 2, 0));
        assertThat(holders(ALL)).isEmpty();
        for (long token : List.of(one, two)) {
            assertThat(answered(send(new Command.ForceRelease(new ResourceName("ledger"), token))))
                    .isInstanceOf(Reply.Absent.class);
        }
        assertThat(a.names()).containsExactly("ledger");
        var unused = hold(c, nonce, MemberIds.repair(5, 1, 0));
        assertThat(holders(ALL)).hasSize(1);
    }

    @Test
    @DisplayName("a member that lists a holder twice counts once")
    void listedTwice() {
        var unused = hold(a, MemberIds.nonce(1), MemberIds.claim(5, 1, 0));
        ResourceInfo info = reportOf(a).resources().get(0);
        Party holder = info.holders().get(0);
        a.answers(
                Inspect.class::isInstance,
                new Reply.Inspected(List.of(info.withHolders(List.of(holder, holder))), Optional.empty()));
        assertThat(holders(ALL)).isEmpty();
    }

    private List<Command.Acquire> sharedByOneSession(int count) {
        SessionId session = session();
        List<Command.Acquire> claims = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Command.Acquire mutex = acquire("ledger", session);
            claims.add(new Command.Acquire(
                    mutex.claim(), 0, mutex.sending(), SHARED, 1, mutex.lease(), mutex.waiting(), mutex.tokens()));
            assertThat(isGranted(claims.get(i))).isTrue();
        }
        return claims;
    }

    private static Inspect page(int limit, Optional<String> cursor) {
        return new Inspect("ledger", cursor, limit, Inspect.Scope.NAME);
    }

    @Test
    @DisplayName("several holders of one session stay apart, page by page, and one is released by force")
    void holdersOfOneSession() {
        List<ClaimRef> claims =
                sharedByOneSession(3).stream().map(Command.Acquire::claim).toList();
        assertThat(inspected(new Inspect("free", Optional.empty(), 2, Inspect.Scope.NAME)))
                .isEqualTo(new Reply.Inspected(List.of(), Optional.empty()));
        assertThat(inspected(page(3, Optional.empty())).cursor()).isEmpty();
        Reply.Inspected first = inspected(page(2, Optional.empty()));
        Reply.Inspected second = inspected(page(2, first.cursor()));
        List<Party> found = new ArrayList<>(first.resources().get(0).holders());
        assertThat(found).hasSize(2);
        found.addAll(second.resources().get(0).holders());
        assertThat(second.cursor()).isEmpty();
        assertThat(found.stream().map(Party::claim)).containsExactlyElementsOf(claims);
        long token = found.get(1).tokens().orElseThrow().first();
        assertThat(answered(send(new Command.ForceRelease(new ResourceName("ledger"), token))))
                .isInstanceOf(Reply.Released.class);
        assertThat(holders(page(3, Optional.empty())).stream().map(Party::claim))
                .containsExactly(claims.get(0), claims.get(2));
        assertThat(signals).containsExactly("revoked ledger");
    }

    @Test
    @DisplayName("holders that a member has left out are asked for")
    void holdersLeftOut() {
        int count = sharedByOneSession(3).size();
        for (ScriptedMember member : List.of(a, b, c)) {
            ResourceInfo info = reportOf(member).resources().get(0);
            member.answers(
                    command -> command instanceof Inspect inspect && inspect.scope() == Inspect.Scope.PREFIX,
                    new Reply.Inspected(List.of(info.withHolders(info.holders().subList(0, 1))), Optional.empty()));
        }
        assertThat(holders(ALL)).hasSize(count);
    }

    @Test
    @DisplayName("a record that a member can't read is listed, even if a majority can read it")
    void damaged() {
        assertThat(isGranted(acquire("ledger", session()))).isTrue();
        c.answers(
                Inspect.class::isInstance,
                new Reply.Inspected(List.of(), List.of(new DamagedRecord("job", "torn")), Optional.empty()));
        Reply.Inspected first = inspected(new Inspect("", Optional.empty(), 1));
        assertThat(first.resources()).isEmpty();
        assertThat(first.damaged()).singleElement().satisfies(record -> {
            assertThat(record.name()).isEqualTo("job");
            assertThat(record.reason()).startsWith("member 3").endsWith(": torn");
        });
        Reply.Inspected second = inspected(new Inspect("", first.cursor(), 1));
        assertThat(second.resources()).hasSize(1);
        assertThat(second.damaged()).isEmpty();
        a.answers(
                Inspect.class::isInstance,
                new Reply.Inspected(List.of(), List.of(new DamagedRecord("job", "gone")), Optional.empty()));
        assertThat(inspected(ALL).damaged())
                .singleElement()
                .satisfies(record -> assertThat(record.reason()).contains(": gone; member 3"));
    }

    @Test
    @DisplayName(
            "without a majority that reports, the failure is damage if those that answer make one with the damaged")
    void failures() {
        c.fails(Inspect.class::isInstance, Reason.CORRUPT);
        assertThat(holders(ALL)).isEmpty();
        b.fails(Inspect.class::isInstance, Reason.CORRUPT);
        assertThatInspectionFails(Reason.CORRUPT);
        b.fails(Inspect.class::isInstance, Reason.UNAVAILABLE);
        assertThatInspectionFails(Reason.CORRUPT);
        a.fails(Inspect.class::isInstance, Reason.UNAVAILABLE);
        assertThatInspectionFails(Reason.UNAVAILABLE);
        a.comeBack();
        c.fails(Inspect.class::isInstance, Reason.UNAVAILABLE);
        assertThatInspectionFails(Reason.UNAVAILABLE);
    }

    private void assertThatInspectionFails(Reason reason) {
        CompletableFuture<Reply> future = send(ALL);
        assertThat(future).isCompletedExceptionally();
        assertThatThrownBy(future::join)
                .cause()
                .isInstanceOfSatisfying(
                        StoreException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(reason));
    }
}
