package dev.holdfast.verification.world;

import dev.holdfast.Holdfast;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.memory.ReferenceStore;
import dev.holdfast.test.ManualEnvironment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/**
 * One store with the clients and threads that a test brings to it. What a test leaves at the store, all clients closed,
 * fails it.
 */
public final class World implements AutoCloseable {

    /**
     * Short compared to all time-outs: what the timers of a step start must be answered within the rest of the step.
     */
    private static final Duration LONGEST_STEP = Duration.ofSeconds(1);

    private static final Duration SHORT_STEP = Duration.ofMillis(50);

    private final Optional<ManualEnvironment> time;
    private final ReferenceStore store;
    private final List<Holdfast> clients = new ArrayList<>();
    private final List<Actor> actors = new ArrayList<>();
    private final List<FaultyLink> links = new ArrayList<>();

    private World(Optional<ManualEnvironment> time, int parts) {
        this.time = time;
        this.store = time.map(manual -> new ReferenceStore(manual.unixMicros(), parts))
                .orElseGet(ReferenceStore::new);
    }

    /** A world on the system's time. */
    public static World live() {
        return new World(Optional.empty(), 1);
    }

    /** A world in which time passes only when the test says so. */
    public static World still() {
        return inParts(1);
    }

    /** As {@link #still()}, with a store that keeps sessions in parts. */
    public static World inParts(int parts) {
        return new World(Optional.of(new ManualEnvironment()), parts);
    }

    /** The time of a {@linkplain #still() still} world. */
    public ManualEnvironment time() {
        return time.orElseThrow();
    }

    /**
     * Advances time, at the store too, in small steps, and only while all actors are at rest and all
     * callbacks have run, so that no command is overtaken by its time-out on a machine that is slow to run the thread
     * that sends it.
     */
    public void advance(Duration by) {
        Duration left = by;
        do {
            awaitRest();
            Duration step = left.compareTo(LONGEST_STEP) > 0 ? LONGEST_STEP : left;
            time().advance(step);
            store.expire();
            left = left.minus(step);
        } while (!left.isZero());
        awaitRest();
    }

    /** Advances time by small steps until something holds; fails the test if it does not come about. */
    public void advanceUntil(String what, BooleanSupplier condition) {
        Eventually.holds(what, () -> {
            advance(SHORT_STEP);
            return condition.getAsBoolean();
        });
    }

    private void awaitRest() {
        Eventually.holds("all are at rest", () -> {
            time().settle();
            boolean isUndisturbed = true;
            for (Actor actor : actors) {
                isUndisturbed &= actor.quiescence().isUndisturbed();
            }
            return isUndisturbed;
        });
    }

    // ---- Clients

    /** A client with the usual settings. */
    public Holdfast client(String label) {
        return client(builder(label));
    }

    /** A client with its own link. */
    public Holdfast client(String label, FaultyLink link) {
        return client(builder(label, link));
    }

    /** A client with other settings. */
    public Holdfast client(Holdfast.Builder builder) {
        Holdfast client = builder.build();
        clients.add(client);
        return client;
    }

    /** The settings of a client. */
    public Holdfast.Builder builder(String label) {
        return builder(label, link());
    }

    /** The settings of a client with its own link. */
    public Holdfast.Builder builder(String label, FaultyLink link) {
        Holdfast.Builder builder = Holdfast.builder(link).label(label);
        time.ifPresent(builder::environment);
        return builder;
    }

    /** A link to the store. */
    public FaultyLink link() {
        return link(UnaryOperator.identity());
    }

    /** A link to the store, with an observer in between. */
    public FaultyLink link(UnaryOperator<LockStore> between) {
        FaultyLink link = new FaultyLink(between.apply(store.connect()));
        links.add(link);
        return link;
    }

    /** A thread. */
    public Actor actor(String name) {
        Actor actor = new Actor(name);
        actors.add(actor);
        return actor;
    }

    // ---- The store, seen from outside

    /** Asks the store itself. */
    public Reply ask(Command command) {
        return store.execute(command, CallerMode.BLOCKING).toCompletableFuture().join();
    }

    /** The store's record of a name; empty if it has no holders and no waiters. */
    public Optional<ResourceInfo> recordOf(String name) {
        return records(name).stream()
                .filter(info -> info.name().value().equals(name))
                .findAny();
    }

    /** The labels of the holders of a name at the store. */
    public Optional<String> holderOf(String name) {
        return recordOf(name)
                .flatMap(info ->
                        info.holders().stream().map(ResourceInfo.Party::label).findFirst());
    }

    /** How many claims wait at the store for a name. */
    public long waitersOf(String name) {
        return recordOf(name).map(ResourceInfo::waiting).orElse(0L);
    }

    /** An operator releases a name by force. */
    public void releaseByForce(String name) {
        long token = recordOf(name)
                .orElseThrow()
                .holders()
                .get(0)
                .tokens()
                .orElseThrow()
                .last();
        Reply reply = ask(new Command.ForceRelease(new ResourceName(name), token));
        if (!(reply instanceof Reply.Released)) {
            throw new AssertionError("The release by force was answered " + reply);
        }
    }

    /** Fails the test if there are holders or waiters. */
    public void awaitIdle() {
        Eventually.holds(
                "nothing is held or waited for at the store, but there is " + records(""),
                () -> records("").isEmpty());
    }

    private List<ResourceInfo> records(String prefix) {
        return ((Reply.Inspected) ask(new Command.Inspect(prefix, Optional.empty(), 1_000))).resources();
    }

    @Override
    public void close() {
        links.forEach(FaultyLink::mend);
        actors.forEach(Actor::close);
        clients.forEach(Holdfast::close);
        awaitIdle();
        time.ifPresent(ManualEnvironment::close);
    }
}
