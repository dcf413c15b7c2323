package dev.holdfast.store.memory;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Invariants of the machine's state between any two steps, for random commands and times. */
class ReferenceMachineTest {

    private static final int STEPS = 20_000;
    private static final List<Kind> KINDS = List.of(Kind.MUTEX, Kind.READ_WRITE, Kind.SEMAPHORE, Kind.LATCH);

    private final State state = new State();
    private final ReferenceMachine machine = new ReferenceMachine(state);
    private final List<SessionId> sessions = new ArrayList<>();
    private long now = 1_750_000_000_000_000L;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void invariantsHoldAfterEveryStep(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < STEPS; i++) {
            now += random.nextInt(50) == 0 ? -random.nextInt(3_000_000) : random.nextInt(100_000);
            Command command = draw(random);
            Reply reply = machine.apply(command, now).reply();
            if (reply instanceof Reply.SessionOpened opened) {
                sessions.add(opened.session());
            }
            check(command);
        }
        assertThat(sessions).hasSizeGreaterThan(100);
    }

    @Test
    void sameCommandsAtTheSameTimesAreAnsweredTheSame() {
        ReferenceMachine twin = new ReferenceMachine();
        SplittableRandom random = new SplittableRandom(11);
        for (int i = 0; i < STEPS; i++) {
            now += random.nextInt(100_000);
            Command command = draw(random);
            ReferenceMachine.Outcome outcome = machine.apply(command, now);
            assertThat(twin.apply(command, now)).isEqualTo(outcome);
            if (outcome.reply() instanceof Reply.SessionOpened opened) {
                sessions.add(opened.session());
            }
        }
    }

    private Command draw(SplittableRandom random) {
        if (sessions.isEmpty() || random.nextInt(60) == 0) {
            return new Command.OpenSession(Duration.ofMillis(500 + random.nextInt(9_000)), "s");
        }
        SessionId session = sessions.get(Math.max(0, sessions.size() - 1 - random.nextInt(4)));
        Kind kind = KINDS.get(random.nextInt(KINDS.size()));
        ResourceName name = new ResourceName(kind.name());
        ClaimRef claim = new ClaimRef(name, session, 1 + random.nextInt(4));
        long epoch = random.nextInt(3);
        return switch (random.nextInt(20)) {
            case 0, 1 -> new Command.KeepAlive(session, random.nextInt(20) == 0 ? 2 : 0);
            case 2 -> random.nextInt(10) == 0 ? new Command.CloseSession(session) : new Command.Poll(List.of(claim));
            case 3 -> random.nextInt(20) == 0 ? new Command.Retire(session) : new Command.Poll(List.of(claim));
            case 4, 5, 6 -> new Command.Release(claim);
            case 7 -> new Command.Withdraw(claim, Sending.FIRST);
            case 8 -> new Command.ShrinkTo(claim, 1 + random.nextInt(3));
            case 9 -> new Command.Extend(claim, 1 + random.nextInt(3), Duration.ofMillis(1 + random.nextInt(3_000)));
            case 10 -> new Command.SetCount(name, session, epoch, 1 + random.nextInt(50), 1 + random.nextInt(3));
            case 11 -> new Command.CountDown(name, 1 + random.nextInt(50), "id" + random.nextInt(3), 1);
            case 12 -> new Command.Resize(name, session, epoch, 1 + random.nextInt(5));
            case 13 -> new Command.ForceRelease(name, now / 125 * 128 - random.nextInt(1_000_000));
            case 14 ->
                new Command.Yield(claim, acquire(random, new ClaimRef(name, session, 5), epoch, kind, Waiting.QUEUE));
            default -> acquire(random, claim, epoch, kind, random.nextInt(4) == 0 ? Waiting.TRY : Waiting.QUEUE);
        };
    }

    private static Acquire acquire(SplittableRandom random, ClaimRef claim, long epoch, Kind kind, Waiting waiting) {
        int capacity = kind == Kind.READ_WRITE ? Integer.MAX_VALUE : kind == Kind.SEMAPHORE ? 4 : 1;
        Order order = kind == Kind.SEMAPHORE ? Order.BARGING : Order.FAIR;
        int weight = switch (kind) {
            case LATCH -> 0;
            case READ_WRITE -> random.nextInt(3) == 0 ? Integer.MAX_VALUE : 1;
            case SEMAPHORE -> 1 + random.nextInt(4);
            default -> 1;
        };
        Duration length = Duration.ofMillis(1 + random.nextInt(4_000));
        Lease lease = switch (random.nextInt(4)) {
            case 0 -> Lease.bounded(length);
            case 1 -> Lease.detached(length);
            default -> Lease.SESSION;
        };
        ResourceSpec spec = new ResourceSpec(kind, capacity, order);
        return new Acquire(claim, epoch, Sending.FIRST, spec, weight, lease, waiting, 1 + random.nextInt(100));
    }

    private void check(Command command) {
        Set<Expiring> mortal = new HashSet<>();
        Set<MemoryClaim> recorded = new HashSet<>();
        for (MemoryResource resource : state.allInUse()) {
            assertThat(resource.isInUse())
                    .as("%s is in use after %s", resource.name, command)
                    .isTrue();
            checkResource(resource, command);
            recorded.addAll(resource.grants.values());
            recorded.addAll(resource.queue.values());
        }
        for (MemorySession session : state.sessions.values()) {
            assertThat(session.live || !session.claims.isEmpty()).isTrue();
            if (session.live) {
                mortal.add(session);
            }
            assertThat(recorded.containsAll(session.claims))
                    .as("claims of %s after %s", session.id, command)
                    .isTrue();
        }
        for (MemoryClaim claim : recorded) {
            assertThat(claim.session.claims).contains(claim);
            assertThat(claim.session.live || claim.isDetached())
                    .as("%s lives after %s", claim.ref, command)
                    .isTrue();
            if (claim.hasFixedLease() && claim.pickedUp) {
                mortal.add(claim);
            }
        }
        assertThat(state.deadlines).as("deadlines after %s", command).hasSameElementsAs(mortal);
        assertThat(state.deadlines).allMatch(one -> one.endsAt > now);
    }

    private static void checkResource(MemoryResource resource, Command command) {
        long held = 0;
        long lastOfOthers = 0;
        for (TokenBlock tokens : resource.grants.values().stream()
                .map(grant -> grant.tokens)
                .sorted((a, b) -> Long.compare(a.first(), b.first()))
                .toList()) {
            assertThat(tokens.first())
                    .as("blocks of %s are disjoint after %s", resource.name, command)
                    .isGreaterThan(lastOfOthers);
            lastOfOthers = tokens.last();
        }
        assertThat(resource.lastToken).isGreaterThanOrEqualTo(lastOfOthers);
        for (MemoryClaim grant : resource.grants.values()) {
            held += grant.weight;
        }
        assertThat(resource.heldWeight)
                .as("what is held of %s after %s", resource.name, command)
                .isEqualTo(held);
        for (MemoryClaim waiter : resource.queue.values()) {
            assertThat(waiter.tokens).isNull();
            assertThat(waiter.weight).isLessThanOrEqualTo(resource.capacity);
        }
        if (!resource.queue.isEmpty()) {
            MemoryClaim head = resource.queue.values().iterator().next();
            assertThat(resource.fits(head.weight))
                    .as("the head of %s fits after %s", resource.name, command)
                    .isFalse();
        }
    }
}
