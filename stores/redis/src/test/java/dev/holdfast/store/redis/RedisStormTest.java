package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.until;
import static dev.holdfast.store.redis.Asking.waiting;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.RedisSentinels;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.servers.storm.Witness;
import dev.holdfast.servers.storm.Worker;
import dev.holdfast.spi.LockStore;
import io.lettuce.core.RedisException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Clients in separate processes, under one fault after another: a client that believes it holds a lock does hold it,
 * tokens always increase, and after a fault everything continues. {@code -Dholdfast.faults.rounds=…} sets the number of
 * rounds, {@code -Dholdfast.faults.seed=…} repeats a run; {@code target/faults.txt} has the result.
 */
@Tag("server")
class RedisStormTest {

    private static final Duration TTL = Duration.ofSeconds(1);
    private static final int ROUNDS = Integer.getInteger("holdfast.faults.rounds", 9);
    private static final long SEED = Long.getLong("holdfast.faults.seed", new Random().nextInt(1_000_000));
    private static final int WORKERS = 3;
    private static final int THREADS = 3;
    private static final Duration INTERRUPT_EVERY = Duration.ofMillis(20);

    private final Random random = new Random(SEED);
    private final Witness witness = new Witness();
    private final List<Worker> workers = new ArrayList<>();

    /** What may go wrong; each ends before it returns, but for what it leaves to be healed by waiting. */
    private enum Fault {
        RESET,
        BLACK_HOLE,
        LATENCY,
        REPLY_LOST,
        HOLDER_KILLED,
        HOLDER_STOPPED,
        SERVER_STOPPED,
        SERVER_RESTARTED,
        SCRIPTS_FORGOTTEN
    }

    @Test
    void oneServer() throws Exception {
        List<FaultProxy> proxies = new ArrayList<>();
        try (TestServer server = TestServer.start("appendonly", "yes", "appendfsync", "always")) {
            for (int i = 0; i < WORKERS; i++) {
                proxies.add(FaultProxy.to(server.port()));
                start(uri(proxies.get(i)));
            }
            work();
            List<Fault> faults = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                if (round % Fault.values().length == 0) {
                    faults.addAll(List.of(Fault.values()));
                    Collections.shuffle(faults, random);
                }
                int whose = random.nextInt(WORKERS);
                Fault fault = faults.remove(0);
                long began = System.nanoTime();
                cause(fault, server.server(), proxies.get(whose), whose);
                assertUsable("after " + fault + ", seed " + SEED);
                report(fault.toString(), (System.nanoTime() - began) / 1_000_000 + " ms until all went on");
            }
            end();
            report("one server", witness.verifyExclusion());
            // A session that a worker gave up for another in a fault ends with the next command after its ttl, and no
            // worker is left to send one.
            try (LockStore store = server.builder().open()) {
                server.with(redis -> until(
                        "nothing is left but the counters",
                        () -> waiting(store, "") == 0 && redis.hlen("holdfast:{0}:h") == 1));
            }
        } finally {
            close();
            proxies.forEach(FaultProxy::close);
        }
    }

    private static String uri(FaultProxy proxy) {
        return "redis://127.0.0.1:" + proxy.port() + "?timeout=PT1S&connectTimeout=PT5S";
    }

    private void cause(Fault fault, RedisServer server, FaultProxy proxy, int whose) throws Exception {
        switch (fault) {
            case RESET -> proxy.reset();
            case BLACK_HOLE -> {
                proxy.blackHole();
                passes(TTL.multipliedBy(3).dividedBy(2));
                proxy.heal();
            }
            case LATENCY -> {
                proxy.delay(TTL.dividedBy(4)); // there and back
                proxy.crumble(FaultProxy.Direction.TO_CLIENT);
                passes(TTL.multipliedBy(2));
                proxy.heal();
            }
            case REPLY_LOST -> {
                proxy.cutAfterForwarding("EVALSHA");
                until("a reply was lost", () -> !proxy.isCutToCome());
            }
            case HOLDER_KILLED -> {
                Worker holder = workers.get(whose);
                witness.onEntry(holder.pid(), holder::kill).get(1, TimeUnit.MINUTES);
                Worker next = worker(uri(proxy));
                workers.set(whose, next);
                next.awaitStart();
            }
            case HOLDER_STOPPED -> {
                Worker holder = workers.get(whose);
                int before = witness.lateLeavers();
                witness.onEntry(holder.pid(), holder::pause).get(1, TimeUnit.MINUTES);
                long entered = witness.entries();
                passes(TTL.multipliedBy(3));
                until("who was stopped has a successor", () -> witness.entries() > entered);
                holder.resume();
                until("who was stopped would write over its successors", () -> witness.lateLeavers() > before);
            }
            case SERVER_STOPPED -> {
                server.process().pause();
                passes(TTL.multipliedBy(2));
                server.process().resume();
            }
            case SERVER_RESTARTED -> {
                server.kill();
                server.restart();
            }
            case SCRIPTS_FORGOTTEN -> server.command("SCRIPT", "FLUSH");
        }
    }

    @Test
    void failOvers() throws Exception {
        try (RedisSentinels all = RedisSentinels.start()) {
            for (int i = 0; i < WORKERS; i++) {
                start(all.uri() + "&timeout=PT1S&connectTimeout=PT5S");
            }
            work();
            for (int round = 0; round < Math.max(1, ROUNDS / 9); round++) {
                RedisServer old = all.primary();
                boolean isKilled = round % 2 == 0;
                all.failOver(
                        isKilled
                                ? RedisServer::kill
                                : primary -> primary.process().pause());
                assertUsable("after fail-over " + round + ", seed " + SEED);
                if (isKilled) {
                    old.restart();
                } else {
                    old.process().resume();
                }
                until("the replicas are back", () -> isWhole(all.primary()));
                assertUsable("with the old primary, seed " + SEED);
            }
            end();
            // Replication is asynchronous, so two may have been in; but never with tokens that do not rise.
            report("fail-overs", witness.verifyTokens());
        } finally {
            close();
        }
    }

    private static boolean isWhole(RedisServer primary) {
        try {
            return primary.info("connected_slaves").equals("2");
        } catch (RedisException e) {
            return false;
        }
    }

    private void start(String uri) throws Exception {
        workers.add(worker(uri));
    }

    private Worker worker(String uri) throws IOException {
        return new Worker(uri, TTL, witness, INTERRUPT_EVERY, 1, Collections.nCopies(THREADS, "storm"));
    }

    private void work() throws Exception {
        for (Worker worker : workers) {
            worker.awaitStart();
        }
        assertUsable("at first");
    }

    private void assertUsable(String when) {
        long before = witness.entries();
        until("the resource is used " + when, () -> witness.entries() > before + 50);
    }

    private void end() throws Exception {
        for (Worker worker : workers) {
            assertThat(worker.end()).startsWith("ended after ");
        }
    }

    private void close() throws Exception {
        for (Worker worker : workers) {
            worker.close();
        }
        witness.close();
    }

    private static void report(String what, String summary) throws IOException {
        Files.writeString(
                Path.of("target", "faults.txt"),
                what + ", " + ROUNDS + " rounds, seed " + SEED + ": " + summary + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    /** A fault has to last. */
    private static void passes(Duration time) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < time.toNanos()) {
            LockSupport.parkNanos(time.toNanos() - (System.nanoTime() - start));
        }
    }
}
