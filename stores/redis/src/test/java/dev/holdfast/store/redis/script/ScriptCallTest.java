package dev.holdfast.store.redis.script;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("On the wire, a command of the Redis protocol")
class ScriptCallTest {

    private static final ResourceName NAME = new ResourceName("ledger");
    private static final SessionId SESSION = new SessionId("12.ab");
    private static final ClaimRef CLAIM = new ClaimRef(NAME, SESSION, 1_047);
    private static final ClaimRef NEXT = new ClaimRef(NAME, SESSION, 1_048);
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final ResourceSpec PERMITS = new ResourceSpec(Kind.SEMAPHORE, 5, Order.BARGING);

    /** How a call begins that is about {@link #CLAIM} as a reference: name, session, record prefix, slot. */
    private static final String REFERENCE = "|ledger|\u00ff12.ab|S 12.ab 1047 |\u00ffc12.ab 047";

    private static final String NEXT_REFERENCE = "|S 12.ab 1048 |\u00ffc12.ab 048";
    private static final String EPOCH = "|0000000000000000003";

    static Stream<Arguments> calls() {
        Acquire mutex = acquire(CLAIM, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.QUEUE, 1);
        return Stream.of(
                Arguments.of("of a free mutex' one token", ScriptCall.acquire(mutex, 3), "M" + REFERENCE + EPOCH),
                Arguments.of(
                        "in a cluster, where a slot has one digit",
                        ScriptCall.acquire(mutex, 1),
                        "M|ledger|\u00ff12.ab|S 12.ab 1047 |\u00ffc12.ab 007" + EPOCH),
                Arguments.of(
                        "of an acquire",
                        ScriptCall.acquire(acquire(CLAIM, PERMITS, 2, Lease.SESSION, Waiting.QUEUE, 4), 3),
                        "A" + REFERENCE + EPOCH + "|sb5 2|4"),
                Arguments.of(
                        "of a try",
                        ScriptCall.acquire(acquire(CLAIM, PERMITS, 2, Lease.SESSION, Waiting.TRY, 4), 3),
                        "a" + REFERENCE + EPOCH + "|sb5 2|4"),
                Arguments.of(
                        "of an acquire with a bounded lease",
                        ScriptCall.acquire(acquire(CLAIM, PERMITS, 2, Lease.bounded(LEASE), Waiting.QUEUE, 4), 3),
                        "B" + REFERENCE + EPOCH + "|sb5 2|4|b|2000000|q"),
                Arguments.of(
                        "of a try with a detached lease",
                        ScriptCall.acquire(
                                acquire(CLAIM, ResourceSpec.MUTEX, 1, Lease.detached(LEASE), Waiting.TRY, 1), 3),
                        "B" + REFERENCE + EPOCH + "|mf1 1|1|d|2000000|t"),
                Arguments.of(
                        "of a yield",
                        ScriptCall.yieldFor(
                                new Command.Yield(
                                        CLAIM, acquire(NEXT, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.QUEUE, 64)),
                                3),
                        "Y" + REFERENCE + NEXT_REFERENCE + EPOCH + "|mf1 1|64"),
                Arguments.of(
                        "of a yield for a lease",
                        ScriptCall.yieldFor(
                                new Command.Yield(
                                        CLAIM,
                                        acquire(NEXT, ResourceSpec.MUTEX, 1, Lease.bounded(LEASE), Waiting.QUEUE, 64)),
                                3),
                        "y" + REFERENCE + NEXT_REFERENCE + EPOCH + "|mf1 1|64|b|2000000"),
                Arguments.of(
                        "of a release",
                        ScriptCall.release(new Command.Release(CLAIM), 3),
                        "R|ledger|S 12.ab 1047 |\u00ffc12.ab 047"),
                Arguments.of(
                        "of a withdrawal",
                        ScriptCall.withdraw(new Command.Withdraw(CLAIM, Sending.REPEAT)),
                        "W|ledger|12.ab|1047"),
                Arguments.of(
                        "of a poll", ScriptCall.poll(List.of(CLAIM, NEXT)), "P|2|ledger|12.ab|1047|ledger|12.ab|1048"),
                Arguments.of(
                        "of an advance",
                        ScriptCall.advance(new Command.Advance(CLAIM, 90, 16, 100)),
                        "V|ledger|12.ab|1047|90|16|100"),
                Arguments.of(
                        "of the opening of a session",
                        ScriptCall.openSession(new Command.OpenSession(LEASE, "büro"), 200_000, "0f", "c1"),
                        "O|2000000|0f|c1|b\u00c3\u00bcro"),
                Arguments.of(
                        "of a keep-alive", ScriptCall.keepAlive(new Command.KeepAlive(SESSION, 3)), "K|12.ab" + EPOCH),
                Arguments.of("of a retirement", ScriptCall.retire(new Command.Retire(SESSION)), "X|12.ab"),
                Arguments.of(
                        "of the end of a session",
                        ScriptCall.closeSession(new Command.CloseSession(SESSION)),
                        "C|12.ab"),
                Arguments.of(
                        "of a session that this store has not made",
                        ScriptCall.closeSession(new Command.CloseSession(new SessionId("x|y"))),
                        "C|?"),
                Arguments.of(
                        "of an audit",
                        ScriptCall.audit(new Command.Audit(SESSION, Optional.of("@12"), 900), 500),
                        "U|12.ab|@12|500"),
                Arguments.of(
                        "of a shrink", ScriptCall.shrinkTo(new Command.ShrinkTo(CLAIM, 1)), "H|ledger|12.ab|1047|1"),
                Arguments.of(
                        "of an extension",
                        ScriptCall.extend(new Command.Extend(CLAIM, 7, LEASE)),
                        "T|ledger|12.ab|1047|0000000000000000007|2000000"),
                Arguments.of(
                        "of the count of a latch",
                        ScriptCall.setCount(new Command.SetCount(NAME, SESSION, 3, 1, 5)),
                        "N|ledger|12.ab" + EPOCH + "|0000000000000000001|0000000000000000005"),
                Arguments.of(
                        "of a count-down",
                        ScriptCall.countDown(new Command.CountDown(NAME, 1, "id", 2)),
                        "D|ledger|0000000000000000001|id|0000000000000000002"),
                Arguments.of(
                        "of a resize",
                        ScriptCall.resize(new Command.Resize(NAME, SESSION, 3, 9)),
                        "Z|ledger|12.ab" + EPOCH + "|9"),
                Arguments.of(
                        "of an inspection", ScriptCall.inspect(List.of(NAME.utf8(), NAME.utf8())), "I|2|ledger|ledger"),
                Arguments.of("of the inspection of one name", ScriptCall.inspect(NAME, "g12", 100), "L|ledger|g12|100"),
                Arguments.of(
                        "of a forced release",
                        ScriptCall.force(new Command.ForceRelease(NAME, 77), "-"),
                        "F|ledger|77|-"),
                Arguments.of("of the probe at the start", ScriptCall.probe("c1"), "?|c1"),
                Arguments.of("that only ends what is due", ScriptCall.sweep(), "."));
    }

    @ParameterizedTest(name = "{0} is {2}")
    @MethodSource("calls")
    void isUnchanged(String what, ScriptCall call, String expected) {
        assertThat(call.arguments().stream()
                        .map(bytes -> new String(bytes, StandardCharsets.ISO_8859_1))
                        .collect(Collectors.joining("|")))
                .as(what)
                .isEqualTo(expected);
    }

    private static Acquire acquire(
            ClaimRef claim, ResourceSpec spec, int weight, Lease lease, Waiting waiting, int tokens) {
        return new Acquire(claim, 3, Sending.FIRST, spec, weight, lease, waiting, tokens);
    }
}
