package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.Leadership;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three real Redis servers that are replaced by empty ones, one after another, again and again. */
@Tag("server")
@Tag("Q9")
class QuorumReplacementTest extends QuorumOfServers {

    private QuorumStore store(Duration longestLease, QuorumRules rules) {
        QuorumStore.Builder builder = QuorumStore.builder()
                .longestLease(longestLease)
                .answerWithin(Duration.ofMillis(1_500))
                .rules(rules);
        servers.forEach(server -> builder.member(server.uri()));
        QuorumStore store = builder.open();
        toClose.add(store);
        return store;
    }

    private Holdfast client(QuorumStore store, Duration ttl) {
        Holdfast client = Holdfast.builder(store)
                .sessionTtl(ttl)
                .keepAliveEvery(Duration.ofMillis(500))
                .storeTimeout(Duration.ofSeconds(5))
                .build();
        toClose.add(client);
        return client;
    }

    /**
     * Other tests check that a member that lost its data is kept out for the longest lease. No owner dies here, so a
     * shorter time is harmless.
     */
    private static final class KeptOutBriefly extends QuorumRules {
        @Override
        Duration keptOut(Duration longestLease) {
            return Duration.ofSeconds(1);
        }
    }

    @Test
    @Timeout(value = 600, unit = TimeUnit.SECONDS)
    @MostlyWaits
    @DisplayName("Q9: locks, shares and a leader outlive five rounds in which each member comes back empty")
    void fiveRounds() throws Exception {
        replace(5, Duration.ofSeconds(60), new KeptOutBriefly());
    }

    @Test
    @Timeout(value = 600, unit = TimeUnit.SECONDS)
    @MostlyWaits
    @DisplayName("Q9: and one round with the time that members are kept out for")
    void withTheWholeTime() throws Exception {
        int rounds = Integer.getInteger("holdfast.quorum.rounds", 1);
        replace(rounds, Duration.ofSeconds(15), new QuorumRules());
    }

    private void replace(int rounds, Duration lease, QuorumRules rules) throws Exception {
        QuorumStore store = store(lease, rules);
        Holdfast alice = client(store, lease);
        Holdfast bob = client(store(lease, rules), lease);
        Holdfast carol = client(store(lease, rules), lease);
        Map<String, Hold> holds = new LinkedHashMap<>();
        holds.put("lock", alice.lock("ledger").acquire());
        holds.put("permit", alice.lock("permit/1").acquire());
        holds.put("write", alice.readWriteLock("catalogue").writeLock().acquire());
        holds.put("read", alice.readWriteLock("index").readLock().acquire());
        holds.put("read beside it", bob.readWriteLock("index").readLock().acquire());
        Map<String, Long> tokens = new LinkedHashMap<>();
        holds.forEach((name, hold) -> tokens.put(name, hold.fencingToken()));
        AtomicReference<Leadership> leader = new AtomicReference<>();
        CountDownLatch isElected = new CountDownLatch(1);
        List<Long> terms = new ArrayList<>();
        Campaign campaign = alice.election("leader").campaign(term -> {
            terms.add(term.term());
            leader.set(term);
            isElected.countDown();
            new CountDownLatch(1).await(); // until it is interrupted, since the term is over
        });
        toClose.add(campaign);
        assertThat(isElected.await(60, TimeUnit.SECONDS)).isTrue();
        awaitComplete(store);
        long begun = System.nanoTime();
        for (int round = 1; round <= rounds; round++) {
            for (RedisServer server : servers) {
                server.kill();
                server.restart();
                awaitComplete(store);
                holds.forEach((name, hold) -> assertThat(hold.isHeld()).as(name).isTrue());
                assertThat(leader.get().isLeader()).isTrue();
                assertThat(carol.lock("ledger").tryAcquire()).isEmpty();
                assertThat(carol.readWriteLock("catalogue").readLock().tryAcquire())
                        .isEmpty();
                assertThat(carol.readWriteLock("index").writeLock().tryAcquire())
                        .isEmpty();
            }
        }
        System.out.printf(
                "replaced %d members in %d rounds, kept out for %s: %d ms%n",
                rounds * servers.size(),
                rounds,
                rules.keptOut(lease),
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
        holds.forEach((name, hold) -> assertThat(hold.fencingToken()).as(name).isEqualTo(tokens.get(name)));
        assertThat(terms).hasSize(1);
        holds.values().forEach(Hold::close);
        try (Hold next = carol.lock("ledger").acquire()) {
            assertThat(next.fencingToken()).isGreaterThan(tokens.get("lock"));
        }
        Optional<Hold> writer = carol.readWriteLock("index").writeLock().tryAcquire(Duration.ofSeconds(60));
        assertThat(writer).isPresent();
    }

    /** Has all that is held at all members, as an operator waits for it. */
    private static void awaitComplete(QuorumStore store) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
        while (true) {
            List<MemberStatus> members = store.members().toCompletableFuture().get(60, TimeUnit.SECONDS);
            if (members.stream().allMatch(MemberStatus::isComplete)) {
                return;
            }
            assertThat(System.nanoTime() - deadline)
                    .as("time that is left for %s", members)
                    .isNegative();
        }
    }
}
