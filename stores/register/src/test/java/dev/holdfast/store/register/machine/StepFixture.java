package dev.holdfast.store.register.machine;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.RegisterTraits.Clock;
import dev.holdfast.store.register.ServerTime;
import dev.holdfast.store.register.SessionRecord;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** Steps on the record of one resource, each on new facts; nothing is sent to a server. */
abstract class StepFixture {

    static final ResourceName NAME = new ResourceName("steps");
    static final Duration LENGTH = Duration.ofSeconds(10);

    /** How many waiters a step may admit, or expired claims end. */
    static final int ROOM = 30;

    Clock clock = Clock.WALL;
    int maxStateBytes = 1_000_000;

    /** The server's clock, in microseconds. */
    long now = 1_750_000_000_000_000L;

    RegisterRecord record = new RegisterRecord(Optional.empty(), new RecordVersion(0, 0), 0);
    long change;

    /** The known epoch of each session. */
    long epoch;

    final Set<SessionId> gone = new HashSet<>();
    final Facts.Hearsay hearsay = new Facts.Hearsay() {
        @Override
        public boolean isGone(SessionId id) {
            return gone.contains(id);
        }

        @Override
        public SessionRecord session(SessionId id) {
            return new SessionRecord(epoch, "label", Duration.ofMinutes(1));
        }
    };
    Facts facts = new Facts(hearsay);

    Step step() {
        facts = new Facts(hearsay);
        if (clock == Clock.WALL) {
            facts.time(ServerTime.exactly(now));
        }
        return stepOnFacts();
    }

    Step stepOnFacts() {
        Duration second = Duration.ofSeconds(1);
        RegisterTraits traits = new RegisterTraits(
                "small", "small", clock, second, second, second, true, true, false, maxStateBytes, 4 * ROOM);
        return new Step(NAME, record, facts, traits);
    }

    void write(Step step) {
        change++;
        boolean isNew = record.state().isEmpty();
        record = new RegisterRecord(
                step.state(),
                new RecordVersion(isNew ? change : record.version().incarnation(), change),
                0);
    }

    @CanIgnoreReturnValue
    Reply executed(Step step, Command.OnResource command) {
        return step.execute(command).on(0);
    }

    /** Executes a command in a separate step. */
    @CanIgnoreReturnValue
    Reply written(Command.OnResource command) {
        Step step = step();
        Answer answer = step.execute(command);
        write(step);
        return answer.on(step.base(record));
    }

    static ClaimRef ref(String session, long number) {
        return new ClaimRef(NAME, new SessionId(session), number);
    }

    static ResourceSpec semaphore(int capacity) {
        return new ResourceSpec(Kind.SEMAPHORE, capacity, Order.FAIR);
    }

    static Acquire claim(ClaimRef ref, ResourceSpec spec, int weight, Lease lease, int tokens) {
        return new Acquire(ref, 0, Sending.FIRST, spec, weight, lease, Waiting.QUEUE, tokens);
    }

    static Acquire claim(ClaimRef ref, ResourceSpec spec, int weight) {
        return claim(ref, spec, weight, Lease.SESSION, 1);
    }

    static Acquire mutex(ClaimRef ref) {
        return claim(ref, ResourceSpec.MUTEX, 1);
    }

    static TokenBlock tokens(Reply reply) {
        return reply instanceof Reply.Granted granted ? granted.tokens() : ((Reply.Advanced) reply).tokens();
    }

    /** A step that executes a command, which needs a lease, after this one was opened. */
    Step withLease(Command.OnResource command, SessionId lease) {
        Step unaware = step();
        var unused = unaware.execute(command);
        assertThat(facts.isComplete()).isFalse();
        facts.missingLeases().forEach(key -> facts.lease(key, new OpenedSession(lease, LENGTH)));
        Step step = stepOnFacts();
        assertThat(step.execute(command).on(0)).isNotInstanceOf(Reply.Absent.class);
        assertThat(facts.isComplete()).isTrue();
        return step;
    }
}
