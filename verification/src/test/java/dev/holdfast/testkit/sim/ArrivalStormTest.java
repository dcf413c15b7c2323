package dev.holdfast.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.RegisterTraits.Clock;
import dev.holdfast.store.register.client.RegisterStore;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Clients that arrive at one name at the same moment, on a server that takes one request after another. All is virtual
 * time, so the counts are exact.
 */
class ArrivalStormTest {

    private static final long MICRO = 1_000;

    /** From a client to the server, and back. */
    private static final long NETWORK = 300 * MICRO;

    /** The time of the server's that a request takes, and what a write takes besides until a majority has it. */
    private static final long READ = 30 * MICRO;

    private static final long WRITE = 150 * MICRO;
    private static final long CONSENSUS = 1_500 * MICRO;

    private static final Set<String> WRITES = Set.of("write", "announce", "retract");

    private final Dice dice = new Dice(1);
    private final World world = new World(dice.fork(), Trace.hashOnly());
    private final SimClock clock = new SimClock(0, 0, 1_767_225_600_000_000_000L, false);
    private final MemoryRegister server = new MemoryRegister(Clock.REVISIONS, () -> clock.wall(world.now()) / MICRO);
    private final List<RegisterStore> stores = new ArrayList<>();
    private final List<SessionId> sessions = new ArrayList<>();

    /** When the server has done all that it was asked until now. */
    private long busyUntil;

    private int maxChanges = 4_000;
    private int writes;
    private int answered;

    /** Whether the client that announces a claim first never hears of it, as one that has died. */
    private boolean dropsFirstAnnouncement;

    @ParameterizedTest
    @CsvSource({
        "1, 4000, 1, 3",
        "4, 4000, 3, 40",
        "16, 4000, 3.1, 60",
        "64, 4000, 3.1, 150",
        "256, 4000, 3.1, 400",
        // What a transaction of etcd may change.
        "64, 120, 3.1, 150",
        "256, 120, 3.1, 500",
    })
    @DisplayName("Clients that arrive at once need about three writes each until all stand in the queue")
    void storm(int clients, int changes, double writesEach, long millis) {
        maxChanges = changes;
        long took = arrive(clients, 0);
        assertThat(writes / (double) clients).isLessThanOrEqualTo(writesEach);
        assertThat(took).isLessThanOrEqualTo(millis);
        assertThat(server.takenIn()).as("arrivals").isLessThan(clients);
    }

    @Test
    @DisplayName("The client of the first arrival may die: others take its place, and its claim in")
    void firstDies() {
        int clients = 16;
        dropsFirstAnnouncement = true;
        long took = arrive(clients, 1);
        assertThat(took).isLessThanOrEqualTo(200);
        assertThat(writes / (double) clients).isLessThanOrEqualTo(5);
    }

    /** Has clients arrive, and waits until all are answered but some that die; returns the milliseconds it took. */
    private long arrive(int clients, int dying) {
        for (int i = 0; i < clients; i++) {
            open(i);
        }
        writes = 0;
        long began = world.now();
        for (int i = 0; i < clients; i++) {
            Command.Acquire claim = new Command.Acquire(
                    new ClaimRef(new ResourceName("hot"), sessions.get(i), 1),
                    0,
                    Command.Sending.FIRST,
                    ResourceSpec.MUTEX,
                    1,
                    Lease.SESSION,
                    Command.Waiting.QUEUE,
                    1);
            var unused = stores.get(i).execute(claim, CallerMode.ASYNC).whenComplete((reply, failure) -> {
                assertThat(failure).isNull();
                answered++;
            });
        }
        while (answered < clients - dying) {
            world.step();
        }
        long took = (world.now() - began) / (1_000 * MICRO);
        System.out.printf("%d clients: %.1f writes each, %d ms%n", clients, writes / (double) clients, took);
        return took;
    }

    private void open(int number) {
        SimProcess process = new SimProcess(world, "p" + number, clock);
        SimEnvironment environment = new SimEnvironment(world, process, clock, dice.fork(), 10 * MICRO);
        RegisterStore store = RegisterStore.over(slow(server.connect()), environment);
        stores.add(store);
        var unused = store.execute(new Command.OpenSession(Duration.ofMinutes(1), process.name()), CallerMode.ASYNC)
                .thenAccept(reply -> sessions.add(((Reply.SessionOpened) reply).session()));
        while (sessions.size() == number) {
            world.step();
        }
    }

    private RegisterAdapter slow(RegisterAdapter server) {
        return (RegisterAdapter) Proxy.newProxyInstance(
                RegisterAdapter.class.getClassLoader(),
                new Class<?>[] {RegisterAdapter.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("traits")) {
                        return limited(server.traits());
                    }
                    return CompletionStage.class.isAssignableFrom(method.getReturnType())
                            ? sent(server, method, arguments)
                            : method.invoke(server, arguments);
                });
    }

    private RegisterTraits limited(RegisterTraits traits) {
        return new RegisterTraits(
                traits.product(),
                traits.clock(),
                traits.minSessionTtl(),
                traits.maxSessionTtl(),
                traits.ttlGranularity(),
                traits.portableSessions(),
                traits.orderedListing(),
                traits.maxStateBytes(),
                maxChanges);
    }

    private CompletionStage<Object> sent(RegisterAdapter to, Method method, Object[] arguments) {
        boolean isWrite = WRITES.contains(method.getName());
        writes += isWrite ? 1 : 0;
        CompletableFuture<Object> answer = new CompletableFuture<>();
        boolean isHeard = !dropsFirstAnnouncement || !method.getName().equals("announce");
        dropsFirstAnnouncement &= isHeard;
        world.after(NETWORK, () -> {
            busyUntil = Math.max(world.now(), busyUntil) + (isWrite ? WRITE : READ);
            world.after(
                    busyUntil - world.now() + (isWrite ? CONSENSUS : 0),
                    () -> invoke(to, method, arguments).whenComplete((reply, failure) -> {
                        if (isHeard) {
                            world.after(NETWORK, () -> answer.complete(reply));
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
