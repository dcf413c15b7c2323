package dev.holdfast.servers.storm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.Cluster;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.FaultProxy.Direction;
import dev.holdfast.servers.Member;
import dev.holdfast.servers.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Fails the members of a cluster one after another, and at the same time its clients, which run in other processes. No
 * two valid holds may overlap, tokens must rise in all cases, and when the faults of a round have ended, each waiting
 * thread must get its turn.
 *
 * <p>{@code -Dholdfast.faults.rounds=…} sets the number of rounds, and {@code -Dholdfast.faults.seed=…} repeats the
 * faults of an earlier run. {@code -Dholdfast.faults.grants=100000} runs until there were that many grants, with a
 * thousand waiters, and with each server fault once unless the rounds are set. {@code target/faults.txt} has the
 * results.
 */
@Tag("server")
public abstract class Storm<M extends Member> {

    /** The ttl of the clients' sessions. */
    protected static final Duration TTL = Duration.ofSeconds(4);

    private static final int GRANTS = Integer.getInteger("holdfast.faults.grants", 0);
    private static final boolean IS_LARGE = GRANTS > 0;
    private static final int ROUNDS =
            Integer.getInteger("holdfast.faults.rounds", IS_LARGE ? ServerFault.values().length : 2);
    private static final long SEED = Long.getLong("holdfast.faults.seed", new Random().nextInt(1_000_000));

    private static final int WORKERS = 3;
    private static final Duration INTERRUPT_EVERY = TTL;

    /**
     * The longest time without progress, such as another thread's turn. There is no bound on the whole: it would
     * measure the machine.
     */
    private static final Duration STALL_TIMEOUT = Duration.ofMinutes(4);

    private static final String HOT = "hot";

    /**
     * The lock of each thread of a client. Threads of one client hand a lock over to each other; where each client has
     * one thread, each grant goes to another client.
     */
    private static final List<String> LOCKS =
            List.of(HOT, HOT, HOT, HOT, HOT + 2, HOT + 2, HOT + 2, HOT + 2, HOT + 3, HOT + 4, WorkerMain.KEPT);

    private static final int CROWD_WORKERS = IS_LARGE ? 2 : 1;
    private static final int CROWD_CLIENTS = IS_LARGE ? 100 : 10;
    private static final int CROWD_THREADS = 5;

    /** Faults of servers. */
    private enum ServerFault {
        LEADER_KILLED,
        LEADER_STOPPED,
        LEADER_CUT_OFF,
        LEADER_MUTE,
        LEADER_DEAF,
        FOLLOWER_KILLED,
        FOLLOWER_STOPPED,
        FOLLOWER_CUT_OFF,
        FOLLOWER_MUTE,
        FOLLOWER_DEAF,
        FOLLOWERS_STOPPED,
        ALL_KILLED,
        MEMBER_REPLACED,
        SETTINGS_CHANGED,
        NO_ROOM;

        boolean isOfLeader() {
            return name().startsWith("LEADER");
        }
    }

    /** Faults of clients, at the same time. */
    private enum ClientFault {
        STOPPED_BRIEFLY,
        STOPPED,
        KILLED,
        CUT_OFF,
        UNHEARD,
        RESET,
        DELAYED,
        CROWD_KILLED
    }

    private final Random random = new Random(SEED);
    private final Witness witness = new Witness();
    private final List<Worker> workers = new CopyOnWriteArrayList<>();

    /** The proxies between each worker and the members. */
    private final List<List<FaultProxy>> networks = new ArrayList<>();

    private final Map<String, Integer> caused = new TreeMap<>();

    /** Starts a cluster. */
    protected abstract Cluster<M> start();

    /**
     * The URI of the store for clients.
     *
     * @param members hosts and ports, joined by commas
     */
    protected abstract String uri(String members);

    /** Settings with values to which an operator may change them, on one member after the other. */
    protected abstract List<Map.Entry<String, String>> settings();

    /**
     * Leaves the cluster, or its leader, no room for writes, and makes room again as an operator would.
     *
     * @param meanwhile is run while there is no room
     */
    protected abstract void fill(Cluster<M> cluster, Runnable meanwhile);

    /** Does the regular work of an operator. */
    protected void maintain(Cluster<M> cluster) {}

    @Test
    @Timeout(value = 2, unit = TimeUnit.HOURS)
    void holdersAreAloneAndTokensRiseAndEveryWaiterHasItsTurn() throws Exception {
        try (Cluster<M> cluster = start()) {
            for (int i = 0; i < WORKERS; i++) {
                networks.add(cluster.members().stream()
                        .map(member -> FaultProxy.to(member.port()))
                        .toList());
                workers.add(worker(i));
            }
            for (Worker worker : workers) {
                worker.awaitStart();
            }
            awaitTurns(cluster, "at first");
            List<ServerFault> serverFaults = new ArrayList<>();
            List<ClientFault> clientFaults = new ArrayList<>();
            for (int round = 1; round <= ROUNDS; round++) {
                ServerFault server = next(serverFaults, ServerFault.values());
                ClientFault client = next(clientFaults, ClientFault.values());
                int victim = random.nextInt(WORKERS);
                long startedAt = System.nanoTime();
                String faults = server + " with client " + client;
                CompletableFuture<Void> clientFault = CompletableFuture.runAsync(() -> cause(client, cluster, victim));
                cause(server, cluster);
                clientFault.get();
                long healedAt = System.nanoTime();
                awaitTurns(cluster, "after " + faults);
                long now = System.nanoTime();
                report(faults + ": all had turns " + (now - healedAt) / 1_000_000 + " ms after, "
                        + (now - startedAt) / 1_000_000 + " ms in all");
                long enough = (long) GRANTS * round / ROUNDS;
                until("there are " + enough + " grants", witness::entries, () -> witness.entries() >= enough);
            }
            if (IS_LARGE) {
                await(witness.turns(""), "each thread has its turn at the end");
            }
            for (Worker worker : workers) {
                report(worker.end());
            }
            report("faults " + caused);
            report(witness.verifyExclusion());
        } finally {
            workers.forEach(Worker::close);
            witness.close();
            networks.forEach(proxies -> proxies.forEach(FaultProxy::close));
        }
    }

    private <F> F next(List<F> left, F[] all) {
        if (left.isEmpty()) {
            left.addAll(Arrays.asList(all));
            Collections.shuffle(left, random);
        }
        return left.remove(0);
    }

    private Worker worker(int number) throws IOException {
        String members = networks.get(number).stream()
                .map(proxy -> "127.0.0.1:" + proxy.port())
                .collect(Collectors.joining(","));
        return new Worker(uri(members), TTL, witness, INTERRUPT_EVERY, 1, LOCKS);
    }

    private void cause(ServerFault fault, Cluster<M> cluster) {
        note("server " + fault);
        M leader = cluster.leader();
        List<M> followers =
                cluster.members().stream().filter(member -> member != leader).toList();
        M victim = fault.isOfLeader() ? leader : followers.get(random.nextInt(followers.size()));
        switch (fault) {
            case LEADER_KILLED, FOLLOWER_KILLED -> {
                victim.process().kill();
                sleep(TTL.dividedBy(2));
            }
            case LEADER_STOPPED, FOLLOWER_STOPPED -> stop(List.of(victim));
            case FOLLOWERS_STOPPED -> stop(followers);
            case LEADER_CUT_OFF, FOLLOWER_CUT_OFF -> {
                cluster.isolate(victim);
                sleep(TTL.multipliedBy(3).dividedBy(2));
            }
            case LEADER_MUTE, FOLLOWER_MUTE -> {
                cluster.swallow(victim, Set.of(Direction.TO_CLIENT));
                sleep(TTL.multipliedBy(3).dividedBy(2));
            }
            case LEADER_DEAF, FOLLOWER_DEAF -> {
                cluster.swallow(victim, Set.of(Direction.TO_SERVER));
                sleep(TTL.multipliedBy(3).dividedBy(2));
            }
            case ALL_KILLED ->
                cluster.members().forEach(member -> member.process().kill());
            case MEMBER_REPLACED -> cluster.replace(victim);
            case SETTINGS_CHANGED -> {
                List<Map.Entry<String, String>> all = settings();
                Map.Entry<String, String> setting = all.get(random.nextInt(all.size()));
                for (M member : cluster.members()) {
                    member.process().terminate();
                    member.restartWith(setting.getKey(), setting.getValue());
                }
            }
            case NO_ROOM -> fill(cluster, () -> sleep(TTL));
        }
        restore(cluster, fault);
    }

    /** Ends the faults, again where servers that start together on a busy machine exceed the time for one. */
    private static void restore(Cluster<?> cluster, ServerFault fault) {
        AtomicReference<@Nullable IllegalStateException> last = new AtomicReference<>();
        try {
            until("all members serve after " + fault, () -> 0, () -> {
                try {
                    cluster.restore();
                    return true;
                } catch (IllegalStateException e) {
                    last.set(e);
                    return false;
                }
            });
        } catch (AssertionError e) {
            e.initCause(last.get());
            throw e;
        }
    }

    private static <M extends Member> void stop(List<M> victims) {
        victims.stream().map(Member::process).forEach(ServerProcess::pause);
        sleep(TTL.multipliedBy(3).dividedBy(2));
        victims.stream().map(Member::process).forEach(ServerProcess::resume);
    }

    private void cause(ClientFault fault, Cluster<M> cluster, int number) {
        note("client " + fault);
        Worker worker = workers.get(number);
        List<FaultProxy> proxies = networks.get(number);
        switch (fault) {
            case STOPPED_BRIEFLY -> stopHolder(worker, TTL.dividedBy(2));
            case STOPPED -> stopHolder(worker, TTL.multipliedBy(2));
            case KILLED -> {
                witness.onEntry(worker.pid(), worker::kill)
                        .orTimeout(STALL_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                        .join();
                try {
                    Worker next = worker(number);
                    workers.set(number, next);
                    next.awaitStart();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }
            case CUT_OFF -> {
                proxies.forEach(FaultProxy::blackHole);
                sleep(TTL.multipliedBy(3).dividedBy(2));
            }
            case UNHEARD -> {
                proxies.forEach(proxy -> proxy.swallow(Direction.TO_SERVER));
                sleep(TTL.multipliedBy(3).dividedBy(2));
            }
            case RESET -> proxies.forEach(FaultProxy::reset);
            case DELAYED -> {
                proxies.forEach(proxy -> proxy.delay(TTL.dividedBy(8))); // in each direction
                sleep(TTL.multipliedBy(2));
            }
            case CROWD_KILLED -> killCrowd(cluster);
        }
        proxies.forEach(FaultProxy::heal);
    }

    private void stopHolder(Worker worker, Duration time) {
        witness.onEntry(worker.pid(), worker::pause)
                .orTimeout(STALL_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                .join();
        sleep(time);
        worker.resume();
    }

    /** Lets many clients arrive, waits until each of their threads has had a turn, and kills all at once. */
    private void killCrowd(Cluster<M> cluster) {
        String members = cluster.members().stream()
                .map(member -> "127.0.0.1:" + member.port())
                .collect(Collectors.joining(","));
        List<Worker> crowd = new ArrayList<>();
        try {
            for (int i = 0; i < CROWD_WORKERS; i++) {
                crowd.add(new Worker(
                        uri(members),
                        TTL,
                        witness,
                        Duration.ZERO,
                        CROWD_CLIENTS,
                        Collections.nCopies(CROWD_THREADS, HOT)));
            }
            for (Worker worker : crowd) {
                worker.awaitStart();
            }
            await(witness.turns(HOT), "each of the crowd has its turn");
            assertThat(crowd).allMatch(Worker::isAlive);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } finally {
            crowd.parallelStream().forEach(Worker::kill);
        }
    }

    /** Waits until each thread has had a turn, apart from those that keep a lock for long. */
    private void awaitTurns(Cluster<M> cluster, String when) {
        maintain(cluster);
        await(witness.turns(HOT), "each thread has its turn " + when);
        assertThat(workers).as("workers that run").allMatch(Worker::isAlive);
    }

    private static void await(Witness.Turns turns, String condition) {
        try {
            until(condition, () -> turns.missing().size(), () -> turns.missing().isEmpty());
        } catch (AssertionError e) {
            throw new AssertionError("Still to come: " + turns, e);
        }
    }

    /**
     * Waits for a condition as long as there is progress.
     *
     * @param progress changes while the condition comes closer
     */
    private static void until(String condition, LongSupplier progress, BooleanSupplier isMet) {
        long progressedAt = System.nanoTime();
        long last = progress.getAsLong();
        while (!isMet.getAsBoolean()) {
            long now = System.nanoTime();
            long present = progress.getAsLong();
            if (present != last) {
                last = present;
                progressedAt = now;
            } else if (now - progressedAt > STALL_TIMEOUT.toNanos()) {
                throw new AssertionError("Nothing has moved for " + STALL_TIMEOUT + ", seed " + SEED
                        + ", and it is not so that " + condition);
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    private static void sleep(Duration time) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < time.toNanos()) {
            LockSupport.parkNanos(time.toNanos() - (System.nanoTime() - start));
        }
    }

    private synchronized void note(String fault) {
        caused.merge(fault, 1, Integer::sum);
    }

    private static void report(String what) throws IOException {
        Files.writeString(
                Path.of("target", "faults.txt"),
                Instant.now() + " seed " + SEED + ": " + what + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }
}
