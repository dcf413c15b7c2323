package dev.holdfast.store.register.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.ServerTime;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Fixed leases where a client knows the clock of the server with an error. Times are in milliseconds. */
class FixedLeaseTest {

    private static final ResourceName NAME = new ResourceName("leases");
    private static final Duration LENGTH = Duration.ofMillis(1_000);
    private static final ClaimRef HOLDER = new ClaimRef(NAME, new SessionId("holder"), 1);
    private static final ClaimRef NEXT = new ClaimRef(NAME, new SessionId("next"), 1);

    private final RegisterTraits traits =
            new MemoryRegister(RegisterTraits.Clock.WALL, () -> 1).connect().traits();
    private RegisterRecord record = new RegisterRecord(Optional.empty(), new RecordVersion(0, 0), 0);

    private static Acquire acquire(ClaimRef claim) {
        return acquire(claim, new Lease(Lease.Binding.BOUNDED, LENGTH), Waiting.TRY);
    }

    private static Acquire acquire(ClaimRef claim, Lease lease, Waiting waiting) {
        return new Acquire(claim, 0, Sending.FIRST, ResourceSpec.MUTEX, 1, lease, waiting, 1);
    }

    private Reply execute(Command.OnResource command, long earliest, long latest) {
        Facts facts = new Facts(new Facts.Hearsay() {
            @Override
            public boolean isGone(SessionId id) {
                return false;
            }

            @Override
            public SessionRecord session(SessionId id) {
                return new SessionRecord(0, "label", Duration.ofMinutes(1));
            }
        });
        facts.time(new ServerTime(earliest * 1_000, latest * 1_000));
        Step step = new Step(NAME, record, facts, traits);
        Answer answer = step.execute(command);
        record = new RegisterRecord(step.state(), record.version(), 0);
        return answer.on(0);
    }

    private static Duration left(Reply reply) {
        return reply instanceof Reply.Granted granted ? granted.remaining().orElseThrow() : Duration.ZERO;
    }

    @Test
    void leaseIsGrantedFromTheLatestTimeAndEndsByTheEarliest() {
        assertThat(left(execute(acquire(HOLDER), 8_500, 10_000))).isEqualTo(LENGTH);
        assertThat(execute(acquire(NEXT), 10_999, 14_000)).isInstanceOf(Reply.Refused.class);
        assertThat(execute(acquire(NEXT), 11_000, 14_000)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    void extensionIsGrantedFromTheLatestTime() {
        assertThat(execute(acquire(HOLDER), 10_000, 10_000)).isInstanceOf(Reply.Granted.class);
        Command.Extend extension = new Command.Extend(HOLDER, 1, LENGTH);
        assertThat(execute(extension, 9_000, 10_900)).isEqualTo(new Reply.Extended(1, LENGTH));
        assertThat(execute(acquire(NEXT), 11_899, 20_000)).isInstanceOf(Reply.Refused.class);
        assertThat(execute(acquire(NEXT), 11_900, 20_000)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    void holderLearnsOfWhatIsLeftByTheLatestTime() {
        assertThat(execute(acquire(HOLDER), 10_000, 10_000)).isInstanceOf(Reply.Granted.class);
        assertThat(left(execute(acquire(HOLDER), 9_000, 10_400))).isEqualTo(Duration.ofMillis(600));
    }

    @Test
    void waiterChecksAgainWithinTheLease() {
        Lease lease = new Lease(Lease.Binding.DETACHED, LENGTH);
        assertThat(execute(acquire(HOLDER, lease, Waiting.TRY), 10_000, 10_000)).isInstanceOf(Reply.Granted.class);
        Reply waits = execute(acquire(NEXT, lease, Waiting.QUEUE), 9_000, 10_400);
        assertThat(waits).isEqualTo(new Reply.Queued(LENGTH));
    }
}
