package dev.holdfast.testkit.sim;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterListener;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.RegisterTraits.Clock;
import dev.holdfast.store.register.client.BrokenRegisterClients;
import dev.holdfast.store.register.client.RegisterStore;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A register behind a network, on a server that takes one request after another, with clients that have a session each.
 * All is virtual time, so that counts are exact. Not thread-safe.
 */
final class RemoteRegister {

    private static final long MICRO = 1_000;

    /** From a client to the server, and back. */
    private static final long NETWORK = 300 * MICRO;

    /** The time of the server's that a request takes, and what a write takes besides until a majority has it. */
    private static final long READ = 30 * MICRO;

    private static final long WRITE = 150 * MICRO;
    private static final long CONSENSUS = 1_500 * MICRO;

    private static final Set<String> WRITES = Set.of("write", "announce", "retract");

    final World world;

    /** One for each client, in the order in which they were opened. */
    final List<RegisterStore> stores = new ArrayList<>();

    final List<SessionId> sessions = new ArrayList<>();

    /** Whose sessions each client has watched, by its number. */
    private final Map<Integer, Set<?>> watched = new HashMap<>();

    private final BrokenRegisterClients clients;
    private final SeededRandom random;
    private final boolean isSteady;
    private final SimClock clock = new SimClock(0, 0, 1_767_225_600_000_000_000L, false);
    private final MemoryRegister server;

    /** How many changes the server allows in one write. */
    private final int maxChanges;

    /** When the server has done all that it was asked until now. */
    private long busyUntil;

    private long writes;
    private long requests;

    /** Whether the first client that announces a claim gets no notification, as if it had died. */
    private boolean dropsFirstAnnouncement;

    /**
     * @param isSteady whether a round trip always takes the same time, or between a half and three halves of it
     */
    RemoteRegister(long seed, int maxChanges, boolean isSteady) {
        this(seed, maxChanges, isSteady, BrokenRegisterClients.SOUND);
    }

    /** The same with clients that may break a rule. */
    RemoteRegister(long seed, int maxChanges, boolean isSteady, BrokenRegisterClients clients) {
        this.clients = clients;
        this.isSteady = isSteady;
        this.maxChanges = maxChanges;
        this.random = new SeededRandom(seed);
        this.world = new World(random.fork(), Trace.hashOnly());
        this.server = new MemoryRegister(Clock.REVISIONS, () -> clock.wall(world.now()) / MICRO);
    }

    /** Opens one more client. */
    void open() {
        open(NETWORK);
    }

    /** Opens one more client, so far from the server. */
    void open(long distance) {
        int number = stores.size();
        SimProcess process = new SimProcess(world, "p" + number, clock);
        SimEnvironment environment = new SimEnvironment(world, process, clock, random.fork(), 10 * MICRO);
        RegisterStore store = clients.over(remote(number, distance, server.connect()), environment);
        stores.add(store);
        var unused = store.execute(new Command.OpenSession(Duration.ofMinutes(1), process.name()), CallerMode.ASYNC)
                .thenAccept(reply -> sessions.add(((Reply.SessionOpened) reply).session()));
        while (sessions.size() == number) {
            world.step();
        }
    }

    void dropFirstAnnouncement() {
        dropsFirstAnnouncement = true;
    }

    /** How many writes were sent until now. */
    long writes() {
        return writes;
    }

    /** How many requests were sent until now, writes included. */
    long requests() {
        return requests;
    }

    /** How many sessions are watched, each as often as there are clients that watch it. */
    int watches() {
        return watched.values().stream().mapToInt(Set::size).sum();
    }

    /** How many arrivals others than their own clients took in. */
    long takenIn() {
        return server.takenIn();
    }

    private long consensus() {
        return about(CONSENSUS);
    }

    private long about(long nanos) {
        return isSteady ? nanos : random.between(nanos / 2, 3 * nanos / 2);
    }

    /** What a time of the virtual world is in milliseconds. */
    static long millis(long nanos) {
        return nanos / (1_000 * MICRO);
    }

    private RegisterAdapter remote(int number, long distance, RegisterAdapter server) {
        return (RegisterAdapter) Proxy.newProxyInstance(
                RegisterAdapter.class.getClassLoader(),
                new Class<?>[] {RegisterAdapter.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("traits")) {
                        return limited(server.traits());
                    } else if (method.getName().equals("listen")) {
                        server.listen(remote((RegisterListener) arguments[0], distance));
                        return null;
                    } else if (method.getName().equals("watchSessions")) {
                        watched.put(number, (Set<?>) arguments[0]);
                    }
                    return CompletionStage.class.isAssignableFrom(method.getReturnType())
                            ? sent(server, distance, method, arguments)
                            : method.invoke(server, arguments);
                });
    }

    /** What the server pushes takes the way back as answers do; it has been written by a majority before. */
    private RegisterListener remote(RegisterListener listener, long distance) {
        return new RegisterListener() {
            @Override
            public void delivered(SessionId session, byte[] mail, RecordVersion record) {
                world.after(about(distance), () -> listener.delivered(session, mail, record));
            }

            @Override
            public void gone(SessionId session) {
                world.after(about(distance), () -> listener.gone(session));
            }

            @Override
            public void resubscribed() {
                world.after(about(distance), listener::resubscribed);
            }
        };
    }

    private RegisterTraits limited(RegisterTraits traits) {
        return new RegisterTraits(
                traits.product(),
                traits.system(),
                traits.clock(),
                traits.minSessionTtl(),
                traits.maxSessionTtl(),
                traits.ttlGranularity(),
                traits.portableSessions(),
                traits.orderedListing(),
                traits.callerRuns(),
                traits.maxStateBytes(),
                maxChanges);
    }

    private CompletionStage<Object> sent(RegisterAdapter to, long distance, Method method, Object[] arguments) {
        boolean isWrite = WRITES.contains(method.getName());
        writes += isWrite ? 1 : 0;
        requests++;
        CompletableFuture<Object> answer = new CompletableFuture<>();
        boolean isHeard = !dropsFirstAnnouncement || !method.getName().equals("announce");
        dropsFirstAnnouncement &= isHeard;
        world.after(about(distance), () -> {
            busyUntil = Math.max(world.now(), busyUntil) + (isWrite ? WRITE : READ);
            world.after(
                    busyUntil - world.now() + (isWrite ? consensus() : 0),
                    () -> invoke(to, method, arguments).whenComplete((reply, failure) -> {
                        if (isHeard) {
                            world.after(about(distance), () -> answer.complete(reply));
                        }
                    }));
        });
        return answer;
    }

    @SuppressWarnings("unchecked") // only methods come here that return a stage
    private static CompletionStage<Object> invoke(RegisterAdapter to, Method method, Object[] arguments) {
        try {
            return (CompletionStage<Object>) method.invoke(to, arguments);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new AssertionError(e);
        }
    }
}
