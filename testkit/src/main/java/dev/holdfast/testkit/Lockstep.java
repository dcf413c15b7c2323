package dev.holdfast.testkit;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.StoreTraits.FixedLease;
import dev.holdfast.spi.StoreTraits.TokenSource;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.store.memory.ReferenceMachine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/** One run of steps against the store under test and the reference, which must answer the same. */
final class Lockstep {

    private final ConformanceFixture fixture;
    private final String prefix;
    private final ReferenceMachine reference = new ReferenceMachine();
    private final Agreement agreement;
    private final boolean time;
    private final List<Step.Thing> things;

    /**
     * How far the end of an invented block is above that of the given one: for a store that may return later tokens,
     * too far to be one of those.
     */
    private final long wrongBy;

    /** What was sent, and what both answered. */
    final List<String> trace = new ArrayList<>();

    /** The sessions in the slots, one for each part of the store; those before them live on unseen. */
    private final SessionPair[][] slots;

    private final Map<SessionId, SessionId> sessions = new HashMap<>();
    private final List<SessionPair> opened = new ArrayList<>();

    /** The newest block that each claim was seen to have: the store's and the reference's. */
    private final Map<ClaimRef, BlockPair> blocks = new HashMap<>();

    private long referenceMicros = 1_700_000_000_000_000L;

    private record SessionPair(SessionId real, SessionId reference) {}

    private record BlockPair(TokenBlock real, TokenBlock reference) {}

    /** Ids and tokens differ between the two: a command is made for one of them. */
    private record World(boolean isReal) {
        SessionId session(SessionPair pair) {
            return isReal ? pair.real() : pair.reference();
        }

        TokenBlock block(BlockPair pair) {
            return isReal ? pair.real() : pair.reference();
        }
    }

    private static final World REAL = new World(true);
    private static final World REFERENCE = new World(false);

    Lockstep(ConformanceFixture fixture, String prefix) {
        this.fixture = fixture;
        this.prefix = prefix;
        this.time = fixture.hasClock();
        this.things = Step.things(fixture.traits);
        this.wrongBy = fixture.retells() ? 1L << 20 : 1;
        this.slots = new SessionPair[Step.SESSIONS][fixture.first.partitions()];
        Duration grain = fixture.traits.ttlGranularity().plusMillis(1);
        this.agreement = new Agreement(
                grain, time, fixture.traits.has(Feature.KNOWN_WAITERS), fixture.retells(), this::toReference);
    }

    /** Runs the steps; returns the first disagreement, if there is one. */
    Optional<String> run(List<Step> steps) {
        Optional<String> finding = Optional.empty();
        for (int slot = 0; slot < Step.SESSIONS && finding.isEmpty(); slot++) {
            finding = open(slot, true);
        }
        for (Step step : steps) {
            if (finding.isPresent()) {
                return finding;
            }
            finding = take(step);
        }
        return finding.isPresent() ? finding : endOrTell();
    }

    /** A disagreement may show only after the last step. */
    private Optional<String> endOrTell() {
        try {
            return end();
        } catch (AssertionError e) {
            return Optional.of("what was left could not be ended: " + e.getMessage());
        }
    }

    /** Ends all that the run has made, so that the next one finds the store as it was. */
    private Optional<String> end() {
        for (SessionPair pair : opened) {
            for (boolean more = true; more; ) {
                Reply.Audited audited = ConformanceFixture.send(
                        fixture.first, new Command.Audit(pair.real(), Optional.empty(), 100), Reply.Audited.class);
                audited.granted()
                        .forEach(ref -> ConformanceFixture.send(
                                fixture.first, new Command.Withdraw(ref, Sending.FIRST), Reply.Done.class));
                more = audited.cursor().isPresent();
            }
            ConformanceFixture.send(fixture.first, new Command.CloseSession(pair.real()), Reply.Done.class);
        }
        Reply.Count open = things.contains(Step.Thing.LATCH) ? openLatch() : new Reply.Count(0, 0);
        if (open.remaining() > 0) {
            return Optional.of("the latch could not be opened: " + open);
        }
        List<ResourceName> left =
                fixture.inspect(prefix).stream().map(info -> info.name()).toList();
        return left.isEmpty() ? Optional.empty() : Optional.of("when all had ended, the store still named " + left);
    }

    private Reply.Count openLatch() {
        ResourceName latch = name(Step.Thing.LATCH);
        Reply.Count count = ConformanceFixture.send(
                fixture.first, new Command.CountDown(latch, Long.MAX_VALUE, "none", 1), Reply.Count.class);
        return count.remaining() == 0
                ? count
                : ConformanceFixture.send(
                        fixture.first,
                        new Command.CountDown(latch, count.generation(), "the-end", Long.MAX_VALUE),
                        Reply.Count.class);
    }

    private Optional<String> take(Step step) {
        return switch (step.act()) {
            case OPEN -> open(step.session(), step.oneOf(1, 0, 1) == 0);
            case PASS -> pass(step);
            case POLL -> poll(step);
            case INSPECT -> inspect();
            default -> both(step, world -> command(step, world));
        };
    }

    private Command command(Step step, World world) {
        ClaimRef ref = ref(step, step.claim(), world);
        SessionId session = ref.session();
        ResourceName resource = ref.resource();
        return switch (step.act()) {
            case ACQUIRE -> acquire(step, step.claim(), world, isTry(step) ? Waiting.TRY : Waiting.QUEUE);
            case RELEASE -> new Command.Release(ref);
            case WITHDRAW -> new Command.Withdraw(ref, Sending.FIRST);
            case YIELD ->
                step.claim() == step.other()
                        ? new Command.Release(ref)
                        : new Command.Yield(ref, acquire(step, step.other(), world, Waiting.QUEUE));
            case ADVANCE ->
                new Command.Advance(
                        ref, token(step, world) + step.oneOf(1, 0, 0, 0, 1) * wrongBy, step.oneOf(2, 1, 8), 0);
            case SHRINK -> new Command.ShrinkTo(ref, step.oneOf(1, 1, 2, 3));
            case EXTEND -> new Command.Extend(ref, step.oneOf(1, 1, 2), length(step));
            case FORCE -> new Command.ForceRelease(resource, token(step, world));
            case KEEP_ALIVE -> new Command.KeepAlive(session, step.oneOf(1, 0, 0, 0, 1, 2));
            case RETIRE -> new Command.Retire(session);
            case CLOSE -> new Command.CloseSession(session);
            case SET_COUNT ->
                new Command.SetCount(
                        name(Step.Thing.LATCH),
                        sessionFor(step, Step.Thing.LATCH, world),
                        epoch(step),
                        step.oneOf(1, 1, 1, 2, 3),
                        step.oneOf(2, 1, 2, 4));
            case COUNT_DOWN ->
                new Command.CountDown(
                        name(Step.Thing.LATCH),
                        step.oneOf(1, 1, 1, 2),
                        "id-" + step.oneOf(2, 1, 2),
                        step.oneOf(3, 1, 2));
            case RESIZE ->
                new Command.Resize(
                        name(Step.Thing.PERMITS),
                        sessionFor(step, Step.Thing.PERMITS, world),
                        epoch(step),
                        step.oneOf(1, 1, 3, 4, 6));
            case AUDIT -> new Command.Audit(session, Optional.empty(), 1_000);
            default -> throw new IllegalStateException("Not a single command: " + step);
        };
    }

    private Acquire acquire(Step step, int number, World world, Waiting waiting) {
        Step.Thing thing = step.thing();
        boolean odd = step.oneOf(9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1) == 1;
        ResourceSpec spec = odd ? new ResourceSpec(Kind.TASK, 1, Order.FAIR) : spec(thing);
        int weight = switch (spec.kind()) {
            case LATCH -> 0;
            case READ_WRITE -> step.oneOf(10, 1, 1, Integer.MAX_VALUE);
            case SEMAPHORE -> step.oneOf(10, 1, 2, 3, 4);
            default -> 1;
        };
        return new Acquire(
                ref(step, number, world),
                epoch(step),
                Sending.REPEAT,
                spec,
                weight,
                lease(step),
                waiting,
                step.oneOf(11, 1, 4, 64));
    }

    private boolean isTry(Step step) {
        return step.oneOf(5, 0, 0, 0, 1) == 1 || !fixture.traits.has(Feature.FIFO);
    }

    private static ResourceSpec spec(Step.Thing thing) {
        return switch (thing) {
            case MUTEX -> ResourceSpec.MUTEX;
            case CATALOGUE -> new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, Order.FAIR);
            case PERMITS -> new ResourceSpec(Kind.SEMAPHORE, 4, Order.FAIR);
            case LATCH -> new ResourceSpec(Kind.LATCH, 1, Order.FAIR);
        };
    }

    private static long epoch(Step step) {
        return step.oneOf(6, 0, 1, 2, 2, 2, 2, 5);
    }

    private Lease lease(Step step) {
        int binding = step.oneOf(7, 0, 0, 1, 2);
        if (binding == 0
                || fixture.traits.fixedLease() == FixedLease.NONE
                || (binding == 2 && !fixture.traits.has(Feature.DETACHED_GRANTS))) {
            return Lease.SESSION;
        }
        return binding == 1 ? Lease.bounded(length(step)) : Lease.detached(length(step));
    }

    private Duration length(Step step) {
        return time ? Duration.ofMillis(step.oneOf(8, 700, 2_000, 7_000)) : Duration.ofHours(step.oneOf(8, 1, 2));
    }

    /** A token of the claim, as far as it was seen. */
    private long token(Step step, World world) {
        BlockPair pair = blocks.get(ref(step, step.claim(), REFERENCE));
        return pair == null ? 1 : world.block(pair).last();
    }

    private Optional<String> open(int slot, boolean isLong) {
        Duration ttl = time ? Duration.ofSeconds(isLong ? 30 : 5) : Duration.ofHours(1);
        Set<Integer> parts = new TreeSet<>();
        things.forEach(thing -> parts.add(fixture.first.partitionOf(name(thing))));
        for (int part : parts) {
            Command command = new Command.OpenSession(ttl, "slot-" + slot, part);
            Reply real = ConformanceFixture.send(store(slot), command);
            // The reference has one part only: of another it would answer the same.
            Reply modelled = reference
                    .apply(new Command.OpenSession(ttl, "slot-" + slot), referenceMicros)
                    .reply();
            trace.add(command + "\n    store:     " + real);
            if (!(real instanceof Reply.SessionOpened a) || !(modelled instanceof Reply.SessionOpened b)) {
                return Optional.of("a session was not opened: " + real);
            }
            slots[slot][part] = new SessionPair(a.session(), b.session());
            opened.add(slots[slot][part]);
            if (sessions.put(a.session(), b.session()) != null) {
                return Optional.of("a session was given twice: " + real);
            }
        }
        return Optional.empty();
    }

    private Optional<String> pass(Step step) {
        Duration by = Duration.ofMillis(step.oneOf(1, 1, 100, 100, 650, 650, 999, 999, 2_500, 6_999, 29_000));
        fixture.pass(by);
        referenceMicros += by.toNanos() / 1_000;
        trace.add("(" + by + " pass)");
        return Optional.empty();
    }

    private Optional<String> poll(Step step) {
        int[] numbers = step.oneOf(1, 0, 1) == 0 ? new int[] {step.claim()} : new int[] {1, 2, 3};
        return pollAll(step, numbers);
    }

    private Optional<String> pollAll(Step step, int... numbers) {
        List<ClaimRef> real = new ArrayList<>();
        List<ClaimRef> modelled = new ArrayList<>();
        for (int number : numbers) {
            real.add(ref(step, number, REAL));
            modelled.add(ref(step, number, REFERENCE));
        }
        Reply answer = ConformanceFixture.send(store(step.session()), new Command.Poll(real));
        Reply expected =
                reference.apply(new Command.Poll(modelled), referenceMicros).reply();
        note(new Command.Poll(real), answer, expected);
        if (!(answer instanceof Reply.Polled a)
                || !(expected instanceof Reply.Polled b)
                || a.states().size() != numbers.length) {
            return Optional.of("not the answer to a poll of " + numbers.length);
        }
        for (int i = 0; i < numbers.length; i++) {
            remember(modelled.get(i), a.states().get(i), b.states().get(i));
            Optional<String> finding = agreement.differInPoll(
                    modelled.get(i).resource(), a.states().get(i), b.states().get(i));
            if (finding.isPresent()) {
                return finding;
            }
        }
        return Optional.empty();
    }

    /** A store may drop dead claims and admit others only when it next uses a resource, so it must use it first. */
    private Optional<String> inspect() {
        for (Step.Thing thing : things) {
            Optional<String> finding = pollAll(new Step(Step.Act.POLL, 0, thing, 1, 1, 0), 1);
            if (finding.isPresent()) {
                return finding;
            }
        }
        Command command = new Command.Inspect(prefix, Optional.empty(), 100);
        // A store may return shorter pages than the reference.
        Reply answer = new Reply.Inspected(fixture.inspect(prefix), Optional.empty());
        Reply expected = reference.apply(command, referenceMicros).reply();
        note(command, answer, expected);
        return agreement.differ(name(Step.Thing.MUTEX), answer, expected);
    }

    private Optional<String> both(Step step, Function<World, Command> made) {
        if (step.act() == Step.Act.AUDIT) {
            for (Step.Thing thing : things) {
                Optional<String> finding = pollAll(new Step(Step.Act.POLL, 0, thing, 1, 1, 0), 1);
                if (finding.isPresent()) {
                    return finding;
                }
            }
        }
        Command real = made.apply(REAL);
        Command modelled = made.apply(REFERENCE);
        Reply answer = ConformanceFixture.send(store(step.session()), real);
        Reply expected = reference.apply(modelled, referenceMicros).reply();
        note(real, answer, expected);
        ClaimRef about = modelled instanceof Command.Claiming claiming
                ? claiming.request().claim()
                : modelled instanceof Command.OnClaim onClaim ? onClaim.claim() : ref(step, step.claim(), REFERENCE);
        remember(about, answer, expected);
        return agreement.differ(about.resource(), answer, expected);
    }

    private void remember(ClaimRef claim, Reply answer, Reply expected) {
        if (answer instanceof Reply.Granted a && expected instanceof Reply.Granted b) {
            blocks.put(claim, new BlockPair(a.tokens(), b.tokens()));
        } else if (answer instanceof Reply.Advanced a && expected instanceof Reply.Advanced b) {
            blocks.put(claim, new BlockPair(a.tokens(), b.tokens()));
        }
    }

    private void note(Command command, Reply answer, Reply expected) {
        trace.add(command + "\n    store:     " + answer + "\n    reference: " + expected);
    }

    private LockStore store(int slot) {
        return slot == Step.SESSIONS - 1 ? fixture.second : fixture.first;
    }

    private ResourceName name(Step.Thing thing) {
        return new ResourceName(prefix + thing);
    }

    private ClaimRef ref(Step step, int number, World world) {
        ResourceName name = name(step.thing());
        return new ClaimRef(name, world.session(slots[step.session()][fixture.first.partitionOf(name)]), number);
    }

    private SessionId sessionFor(Step step, Step.Thing thing, World world) {
        return world.session(slots[step.session()][fixture.first.partitionOf(name(thing))]);
    }

    private ClaimRef toReference(ClaimRef claim) {
        SessionId session = sessions.get(claim.session());
        if (session == null && fixture.traits.tokenSource() == TokenSource.QUORUM) {
            // Of another connection's session a quorum knows how its id begins.
            String begin = claim.session().value() + ",";
            session = sessions.entrySet().stream()
                    .filter(entry -> entry.getKey().value().startsWith(begin))
                    .map(Map.Entry::getValue)
                    .findFirst()
                    .orElse(null);
        }
        return session == null ? claim : new ClaimRef(claim.resource(), session, claim.claim());
    }
}
