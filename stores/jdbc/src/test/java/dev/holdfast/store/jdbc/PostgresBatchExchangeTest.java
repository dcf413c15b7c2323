package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Command.Withdraw;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("What comes together on PostgreSQL")
@Tag("server")
@Tag("postgres")
class PostgresBatchExchangeTest {

    private static final int NAMES = 12;
    private static final int ROUNDS = 300;

    /** The grants, by name. */
    private final Map<String, ClaimRef> owners = new ConcurrentHashMap<>();

    private final Map<String, AtomicLong> newest = new ConcurrentHashMap<>();

    @Test
    @DisplayName("waits for what others have locked, in one order for all, so that nobody waits in a circle")
    void nobodyWaitsInACircle() throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            String url = server.newDatabase();
            List<CompletableFuture<Integer>> running = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                int seed = i;
                // The last one queues, which locks all its rows at once, and then only polls.
                running.add(Meanwhile.run(() -> proceed(url, new Random(seed), seed == 2)));
            }
            for (CompletableFuture<Integer> one : running) {
                assertThat(one.get(2, TimeUnit.MINUTES)).isPositive();
            }
            // On an overloaded machine a command may wait for a row for so long that another lane takes over.
            assertThat(server.errors()).allMatch(line -> line.contains("lock timeout"));
            assertThat(new TestSource(url).text("SELECT count(*) FROM holdfast_resource WHERE session <> 0"))
                    .isEqualTo("0");
        }
    }

    /** Repeatedly releases its names and claims others, all at once; returns the number of grants. */
    private int proceed(String url, Random random, boolean queues) throws Exception {
        int got = 0;
        try (JdbcStore store =
                JdbcStore.builder(new TestSource(url)).keepsConnections().open()) {
            TestClient client = new TestClient(store);
            List<ClaimRef> grants = new ArrayList<>();
            for (int round = 0; round <= ROUNDS; round++) {
                List<Acquire> wanted = new ArrayList<>();
                List<String> names = new ArrayList<>();
                for (int i = 0; i < NAMES; i++) {
                    names.add("name/" + i);
                }
                grants.forEach(claim -> names.remove(claim.resource().value()));
                Collections.shuffle(names, random);
                for (String name : names.subList(0, round == ROUNDS ? 0 : names.size() / 2)) {
                    wanted.add(new Acquire(
                            client.ref(name),
                            0,
                            Sending.FIRST,
                            ResourceSpec.MUTEX,
                            1,
                            Lease.SESSION,
                            queues ? Waiting.QUEUE : Waiting.TRY,
                            1));
                }
                List<Command> commands = new ArrayList<>(wanted);
                for (ClaimRef claim : grants) {
                    assertThat(owners.remove(claim.resource().value(), claim)).isTrue();
                    commands.add(new Release(claim));
                }
                Collections.shuffle(commands, random);
                Map<Command, CompletableFuture<Reply>> sent = new ConcurrentHashMap<>();
                commands.forEach(command -> sent.put(
                        command, store.execute(command, CallerMode.ASYNC).toCompletableFuture()));
                grants.clear();
                for (Acquire acquire : wanted) {
                    Reply reply = sent.get(acquire).get(1, TimeUnit.MINUTES);
                    if (reply instanceof Reply.Granted granted) {
                        took(acquire.claim(), granted);
                        grants.add(acquire.claim());
                        got++;
                    } else if (reply instanceof Reply.Queued) {
                        client.send(new Withdraw(acquire.claim(), Sending.FIRST));
                    }
                }
                for (CompletableFuture<Reply> one : sent.values()) {
                    assertThat(one.get(1, TimeUnit.MINUTES)).isNotInstanceOf(Reply.Absent.class);
                }
            }
            client.close();
        }
        return got;
    }

    private void took(ClaimRef claim, Reply.Granted granted) {
        String name = claim.resource().value();
        assertThat(owners.put(name, claim)).as("owner of %s", name).isNull();
        assertThat(newest.computeIfAbsent(name, unused -> new AtomicLong())
                        .getAndSet(granted.tokens().last()))
                .isLessThan(granted.tokens().first());
    }
}
