package dev.holdfast.testkit.sim;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.store.memory.ReferenceMachine;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The machine of the store: it applies commands, informs the {@link StoreOracle}, pushes signals, and fails and
 * recovers.
 */
final class SimServer {

    private static final Command LOOK = new Command.Inspect("", Optional.empty(), 1_000);

    private final World world;
    private final SimClock clock;
    private final Supplier<SimStore> stores;
    private final StoreOracle storeOracle;
    private final Coverage coverage;
    private final Map<SessionId, SimLink> owners = new HashMap<>();

    /** In which partition each session is, if there are several. */
    private final Map<SessionId, Integer> places = new HashMap<>();

    private final StoreTraits traits;
    private SimStore store;
    private boolean isUp = true;

    SimServer(World world, SimClock clock, Supplier<SimStore> stores, StoreOracle storeOracle, Coverage coverage) {
        this.world = world;
        this.clock = clock;
        this.stores = stores;
        this.storeOracle = storeOracle;
        this.coverage = coverage;
        this.store = stores.get();
        this.traits = store.traits();
    }

    StoreTraits traits() {
        return traits;
    }

    int partitions() {
        return store.partitions();
    }

    int partitionOf(ResourceName name) {
        return store.partitionOf(name);
    }

    int partitionOf(SessionId session) {
        return places.getOrDefault(session, 0);
    }

    /** The partition that a command is for; what is for several or none goes to the first. */
    int partitionOf(Command command) {
        if (command instanceof Command.OnResource on) {
            return partitionOf(on.resource());
        } else if (command instanceof Command.OpenSession open) {
            return open.partition();
        } else if (command instanceof Command.OnSession on) {
            return partitionOf(on.session());
        } else if (command instanceof Command.Poll poll && !poll.claims().isEmpty()) {
            return partitionOf(poll.claims().get(0).resource());
        } else if (command instanceof Command.Inspect inspect && inspect.scope() == Command.Inspect.Scope.NAME) {
            return partitionOf(new ResourceName(inspect.prefix()));
        }
        return 0;
    }

    boolean isUp() {
        return isUp;
    }

    long micros() {
        return clock.wall(world.now()) / 1_000;
    }

    /** One atomic step. */
    Reply apply(Command command, SimLink from) {
        long micros = micros();
        noteArrival(command, micros);
        ReferenceMachine.Outcome outcome = store.apply(command, micros);
        Reply reply = outcome.reply();
        if (reply instanceof Reply.SessionOpened opened) {
            owners.put(opened.session(), from);
            places.put(opened.session(), ((Command.OpenSession) command).partition());
        }
        if (world.trace().isInWords()) {
            world.say("store: " + TraceFormat.of(command) + " -> " + TraceFormat.of(reply));
        }
        storeOracle.applied(command, reply, inspect(micros), from, micros);
        if (reply instanceof Reply.Stale && command instanceof Command.OnClaim claim && isEndedClaim(claim)) {
            coverage.hit(CoveragePoint.STALE_AFTER_END);
        }
        outcome.signals().forEach(this::push);
        return reply;
    }

    /** Has the store act on what has expired, as it may at any time. */
    void expire(SimLink from) {
        apply(LOOK, from);
    }

    void goDown() {
        isUp = false;
        note("store goes down");
    }

    void comeUp() {
        isUp = true;
        note("store is up");
    }

    /** It comes back as if it had never been. */
    void loseEverything() {
        store = stores.get();
        storeOracle.forget();
        note("store has lost its data");
    }

    void stepClock(long nanos) {
        if (nanos < 0 && storeOracle.anyHeld()) {
            coverage.hit(CoveragePoint.STORE_CLOCK_BACK);
        }
        clock.stepWall(nanos);
        note("store's clock steps by " + nanos / 1_000_000 + " ms");
    }

    private List<ResourceInfo> inspect(long micros) {
        return ((Reply.Inspected) store.apply(LOOK, micros).reply()).resources();
    }

    private void push(Signal signal) {
        SessionId session = sessionOf(signal);
        SimLink owner = session == null ? null : owners.get(session);
        if (owner != null) {
            owner.pushed(signal);
        }
    }

    private void noteArrival(Command command, long micros) {
        if (command instanceof Command.Acquire acquire) {
            if (storeOracle.isSessionOver(acquire.claim().session(), micros)) {
                coverage.hit(CoveragePoint.CLAIM_AFTER_SESSION);
            }
            if (acquire.sending() == Command.Sending.REPEAT) {
                coverage.hit(CoveragePoint.CLAIM_REPEATED);
            }
        } else if (command instanceof Command.Advance) {
            coverage.hit(CoveragePoint.BLOCK_SPENT);
        } else if (command instanceof Command.Yield) {
            coverage.hit(CoveragePoint.YIELDED);
        }
    }

    private boolean isEndedClaim(Command.OnClaim command) {
        ClaimRef made = command instanceof Command.Claiming claiming
                ? claiming.request().claim()
                : command.claim();
        return storeOracle.isEnded(made);
    }

    @org.jspecify.annotations.Nullable
    static SessionId sessionOf(Signal signal) {
        if (signal instanceof Signal.SessionEnded ended) {
            return ended.session();
        }
        return signal instanceof Signal.OnClaim on ? on.claim().session() : null;
    }

    private void note(String what) {
        world.trace().mix(what);
        if (world.trace().isInWords()) {
            world.say(what);
        }
    }
}
