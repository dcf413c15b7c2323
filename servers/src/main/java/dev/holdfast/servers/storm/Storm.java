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
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Clients in processes of their own, of a cluster whose members fail one after another, while something befalls the
 * clients as well: whoever is in believes so with reason, tokens rise whatever happens, and when the faults of a round
 * are over every thread that waits has its turn.
 *
 * <p>{@code -Dholdfast.faults.rounds=…} asks for more rounds, {@code -Dholdfast.faults.seed=…} for the same faults
 * again. {@code -Dholdfast.faults.grants=100000} asks for at least as many grants in all, with a thousand waiters, and
 * with each fault of servers once unless the rounds are set. {@code target/faults.txt} tells what came of it.
 */
@Tag("server")
public abstract class Storm<M extends Member> {

    /** Of the sessions of clients. */
    protected static final Duration TTL = Duration.ofSeconds(4);

    private static final int GRANTS = Integer.getInteger("holdfast.faults.grants", 0);
    private static final boolean IS_LARGE = GRANTS > 0;
    private static final int ROUNDS =
            Integer.getInteger("holdfast.faults.rounds", IS_LARGE ? ServerFault.values().length : 2);
    private static final long SEED = Long.getLong("holdfast.faults.seed", new Random().nextInt(1_000_000));

    private static final int WORKERS = 3;
    private static final Duration INTERRUPT_EVERY = TTL;

    /** A round of all who wait behind one another; on a busy machine. */
    private static final Duration DEADLINE = Duration.ofMinutes(4);

    private static final String HOT = "hot";

    /**
     * A thread of each client for each: threads of one client hand a lock to each other, and where a client has one
     * thread, each grant is another client's.
     */
    private static final List<String> LOCKS =
            List.of(HOT, HOT, HOT, HOT, HOT + 2, HOT + 2, HOT + 2, HOT + 2, HOT + 3, HOT + 4, WorkerMain.KEPT);

    private static final int CROWD_WORKERS = IS_LARGE ? 2 : 1;
    private static final int CROWD_CLIENTS = IS_LARGE ? 100 : 10;
    private static final int CROWD_THREADS = 5;

    /** What befalls servers. Each is over when it returns, but for what takes time. */
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

    /** What befalls clients meanwhile. */
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
    private final Resource resource = new Resource();
    private final List<Worker> workers = new CopyOnWriteArrayList<>();

    /** By the worker, its ways to the members. */
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

    /** Settings that an operator may change, one after the other on each member, with other values. */
    protected abstract List<Map.Entry<String, String>> settings();

    /** Leaves a cluster no room for what it has to write, or its leader, and ends that as an operator would. */
    protected abstract void fill(Cluster<M> cluster, Runnable meanwhile);

    /** What an operator has done regularly. */
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
            goOn(cluster, "at first");
            List<ServerFault> serverFaults = new ArrayList<>();
            List<ClientFault> clientFaults = new ArrayList<>();
            for (int round = 1; round <= ROUNDS; round++) {
                ServerFault server = next(serverFaults, ServerFault.values());
                ClientFault client = next(clientFaults, ClientFault.values());
                int whose = random.nextInt(WORKERS);
                long began = System.nanoTime();
                String what = server + " with client " + client;
                CompletableFuture<Void> besides = CompletableFuture.runAsync(() -> cause(client, cluster, whose));
                cause(server, cluster);
                besides.get(2 * DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
                long healed = System.nanoTime();
                goOn(cluster, "after " + what);
                long now = System.nanoTime();
                report(what + ": all went on " + (now - healed) / 1_000_000 + " ms after, " + (now - began) / 1_000_000
                        + " ms in all");
                long enough = (long) GRANTS * round / ROUNDS;
                until("there are " + enough + " grants", () -> resource.entries() >= enough);
            }
            if (IS_LARGE) {
                complete(resource.round(""), "each thread has its turn at the end");
            }
            for (Worker worker : workers) {
                report(worker.end());
            }
            report("faults " + caused);
            report(resource.judge(true));
        } finally {
            workers.forEach(Worker::close);
            resource.close();
            networks.forEach(ways -> ways.forEach(FaultProxy::close));
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
                .map(way -> "127.0.0.1:" + way.port())
                .collect(Collectors.joining(","));
        return new Worker(uri(members), TTL, resource, INTERRUPT_EVERY, 1, LOCKS);
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
                passes(TTL.dividedBy(2));
            }
            case LEADER_STOPPED, FOLLOWER_STOPPED -> stop(List.of(victim));
            case FOLLOWERS_STOPPED -> stop(followers);
            case LEADER_CUT_OFF, FOLLOWER_CUT_OFF -> {
                cluster.isolate(victim);
                passes(TTL.multipliedBy(3).dividedBy(2));
            }
            case LEADER_MUTE, FOLLOWER_MUTE -> {
                cluster.swallow(victim, Set.of(Direction.TO_CLIENT));
                passes(TTL.multipliedBy(3).dividedBy(2));
            }
            case LEADER_DEAF, FOLLOWER_DEAF -> {
                cluster.swallow(victim, Set.of(Direction.TO_SERVER));
                passes(TTL.multipliedBy(3).dividedBy(2));
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
            case NO_ROOM -> fill(cluster, () -> passes(TTL));
        }
        until("all members serve", () -> isRestored(cluster));
    }

    /** On a busy machine servers that start at once take longer than one that is awaited. */
    private static boolean isRestored(Cluster<?> cluster) {
        try {
            cluster.restore();
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    private static <M extends Member> void stop(List<M> victims) {
        victims.stream().map(Member::process).forEach(ServerProcess::pause);
        passes(TTL.multipliedBy(3).dividedBy(2));
        victims.stream().map(Member::process).forEach(ServerProcess::resume);
    }

    private void cause(ClientFault fault, Cluster<M> cluster, int whose) {
        note("client " + fault);
        Worker worker = workers.get(whose);
        List<FaultProxy> ways = networks.get(whose);
        switch (fault) {
            case STOPPED_BRIEFLY -> stopWhenIn(worker, TTL.dividedBy(2));
            case STOPPED -> stopWhenIn(worker, TTL.multipliedBy(2));
            case KILLED -> {
                resource.whenIn(worker.pid(), worker::kill)
                        .orTimeout(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)
                        .join();
                try {
                    Worker next = worker(whose);
                    workers.set(whose, next);
                    next.awaitStart();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }
            case CUT_OFF -> {
                ways.forEach(FaultProxy::blackHole);
                passes(TTL.multipliedBy(3).dividedBy(2));
            }
            case UNHEARD -> {
                ways.forEach(way -> way.swallow(Direction.TO_SERVER));
                passes(TTL.multipliedBy(3).dividedBy(2));
            }
            case RESET -> ways.forEach(FaultProxy::reset);
            case DELAYED -> {
                ways.forEach(way -> way.delay(TTL.dividedBy(8))); // there and back
                passes(TTL.multipliedBy(2));
            }
            case CROWD_KILLED -> killCrowd(cluster);
        }
        ways.forEach(FaultProxy::heal);
    }

    private void stopWhenIn(Worker worker, Duration time) {
        resource.whenIn(worker.pid(), worker::pause)
                .orTimeout(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)
                .join();
        passes(time);
        worker.resume();
    }

    /** Many clients come, wait behind one another until each has had its turn, and die at once, waiting again. */
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
                        resource,
                        Duration.ZERO,
                        CROWD_CLIENTS,
                        Collections.nCopies(CROWD_THREADS, HOT)));
            }
            for (Worker worker : crowd) {
                worker.awaitStart();
            }
            complete(resource.round(HOT), "each of the crowd has its turn");
            assertThat(crowd).allMatch(Worker::isAlive);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } finally {
            crowd.parallelStream().forEach(Worker::kill);
        }
    }

    /** Waits until every thread that wants a lock for a moment has its turn. */
    private void goOn(Cluster<M> cluster, String when) {
        maintain(cluster);
        complete(resource.round(HOT), "each thread has its turn " + when);
        assertThat(workers).as("workers that live").allMatch(Worker::isAlive);
    }

    private static void complete(Resource.Round round, String what) {
        try {
            until(what, () -> round.missing().isEmpty());
        } catch (AssertionError e) {
            throw new AssertionError("Still to come: " + round, e);
        }
    }

    private static void until(String what, BooleanSupplier isSo) {
        long start = System.nanoTime();
        while (!isSo.getAsBoolean()) {
            if (System.nanoTime() - start > DEADLINE.toNanos()) {
                throw new AssertionError("After " + DEADLINE + ", seed " + SEED + ", it is still not so that " + what);
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    /** A fault has to last. */
    private static void passes(Duration time) {
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
