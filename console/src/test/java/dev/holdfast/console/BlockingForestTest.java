package dev.holdfast.console;

import static dev.holdfast.console.Records.START;
import static dev.holdfast.console.Records.TTL;
import static dev.holdfast.console.Records.blocked;
import static dev.holdfast.console.Records.holder;
import static dev.holdfast.console.Records.mutex;
import static dev.holdfast.console.Records.waiter;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The blocking forest")
class BlockingForestTest {

    private final SeenStore seen = new SeenStore();

    @CanIgnoreReturnValue
    private BlockingForest forest(LockInfo... locks) {
        seen.readPage(List.of(locks), List.of(), true, true, START);
        return new BlockingForest(seen.locks());
    }

    private Views views() {
        return new Views(seen, START);
    }

    /** The labels of an actor and those behind it, such as {@code p(q(r) s)}. */
    private static String text(BlockingForest.Actor actor) {
        String behind = String.join(
                " ", actor.behind.stream().map(BlockingForestTest::text).toList());
        return actor.label + (behind.isEmpty() ? "" : "(" + behind + ")");
    }

    private static Stream<String> roots(BlockingForest forest) {
        return forest.roots().stream().map(BlockingForestTest::text);
    }

    private static LockInfo[] deadlock(Long... acknowledged) {
        return new LockInfo[] {
            mutex(
                    "a",
                    List.of(blocked("p", 1, Records.wait(1, "b", acknowledged))),
                    List.of(waiter("r", 3), waiter("x", 7))),
            mutex("b", List.of(blocked("q", 2, Records.wait(2, "c", acknowledged))), List.of(waiter("p", 4))),
            mutex("c", List.of(blocked("r", 3, Records.wait(3, "a", acknowledged))), List.of(waiter("q", 5))),
        };
    }

    @Test
    @DisplayName("follows the waits that clients state, over several locks")
    void chain() {
        BlockingForest forest = forest(
                mutex("a", List.of(holder("p", 1, TTL)), List.of(waiter("q", 8), waiter("s", 9))),
                mutex("b", List.of(blocked("q", 2, Records.wait(2, "a"))), List.of(waiter("r", 7))));
        assertThat(roots(forest)).containsExactly("p(q(r) s)");
        assertThat(forest.roots().get(0).countBehind()).isEqualTo(3);
        assertThat(forest.cycles()).isEmpty();
        assertThat(views().lock("b").toString())
                .contains("The holder itself waits for a, held by p.", "\"kind\":\"holder-waits\"")
                .contains("\"waitsFor\":\"a\"");
        assertThat(views().lock("a").toString())
                .contains("\"claim\":\"8\"", "\"holds\":[\"b\"],\"behind\":1")
                .doesNotContain("itself waits");
        assertThat(views().blocking(new ViewQuery(Map.of("least", "0"))).toString())
                .contains("\"thread\":\"thread-2\",\"holds\":[\"b\"]", "\"waits\":\"a\"");
        assertThat(views().blocking(new ViewQuery(Map.of("least", "11"))).toString())
                .contains("\"hidden\":1", "\"roots\":[]");
    }

    @Test
    @DisplayName("does not join holds and waits of a session whose client states nothing")
    void manyThreads() {
        assertThat(roots(forest(
                        mutex("a", List.of(holder("p", 1, TTL)), List.of(waiter("q", 8))),
                        mutex("b", List.of(holder("q", 2, TTL)), List.of(waiter("p", 7))))))
                .containsExactly("p(q)", "q(p)");
    }

    /** The claim of a client in a partition of the store in which it has another session. */
    private static LockInfo.Waiter elsewhere(String label, String partition, long claim) {
        return new LockInfo.Waiter(label, "s-" + label + partition, claim, 1, TTL, TTL, null);
    }

    @Test
    @DisplayName("joins a hold and a wait of one thread in two partitions, where its client has two sessions")
    void partitions() {
        BlockingForest forest = forest(
                mutex("a", List.of(blocked("q", 2, Records.wait(2, "c"))), List.of(waiter("r", 7))),
                mutex("c", List.of(holder("p", 1, TTL)), List.of(elsewhere("s", "2", 9), elsewhere("q", "2", 8))));
        assertThat(roots(forest)).containsExactly("p(s q(r))");
        assertThat(forest.roots().get(0).countBehind()).isEqualTo(3);
        assertThat(views().lock("c").toString()).contains("\"claim\":\"8\"", "\"holds\":[\"a\"],\"behind\":1");
    }

    @Test
    @DisplayName("joins them by any of its sessions, and gives each claim one thread")
    void severalSessions() {
        LockInfo.Wait both = Records.wait(2, "c");
        LockInfo.Holder inOther = new LockInfo.Holder("q", "s-q2", 4, 1, 4, 4, START, TTL, TTL, "", List.of(both));
        BlockingForest forest = forest(
                mutex("a", List.of(blocked("q", 2, both)), List.of()),
                mutex("b", List.of(inOther), List.of(waiter("r", 7))),
                mutex("c", List.of(holder("p", 1, TTL)), List.of(elsewhere("q", "2", 8), elsewhere("q", "2", 9))));
        assertThat(roots(forest)).containsExactly("p(q(r) q)");
    }

    @Test
    @DisplayName("does not take the claim of another process with the same label for that of a thread in a local queue")
    void sameLabel() {
        BlockingForest forest = forest(
                mutex("a", List.of(blocked("q", 2, Records.wait(2, "c"))), List.of()),
                mutex("b", List.of(blocked("q", 3, Records.wait(3, "c"))), List.of()),
                mutex("c", List.of(holder("p", 1, TTL)), List.of(elsewhere("q", "other", 8), waiter("q", 9))));
        assertThat(forest.roots().get(0).countBehind()).isEqualTo(3);
        assertThat(views().lock("c").toString()).containsOnlyOnce("\"holds\":[\"");
    }

    @Test
    @DisplayName("finds deadlocks whose members acknowledge each other, with those behind them")
    void deadlock() {
        BlockingForest forest = forest(deadlock(1L, 2L, 3L));
        assertThat(forest.roots()).isEmpty();
        assertThat(forest.cycles()).singleElement().satisfies(cycle -> {
            assertThat(cycle.actors()).extracting(actor -> actor.label).containsExactly("p", "q", "r");
            assertThat(cycle.countBehind()).isOne();
            assertThat(cycle.hold(cycle.actors().get(0)).lock().name()).isEqualTo("a");
        });
        assertThat(views().overview().toString())
                .contains("3 threads wait for each other: b → c → a. 1 more waits behind them".replace("→", "\\u2192"))
                .contains("\"kind\":\"Deadlock\",\"trouble\":true", "\"deadlocks\":1");
        assertThat(views().lock("a").toString())
                .contains("\"kind\":\"deadlock\"")
                .contains("waits for b, held by q, which waits for c, held by r, which waits for a, held by p:"
                        + " they wait for each other.");
        assertThat(views().blocking(new ViewQuery(Map.of())).toString())
                .contains("\"deadlocks\":[{\"since\":\"2026-11-27T01:59:50Z\",\"behind\":1,", "\"held\":\"c\"");
        assertThat(views().summary(LockTable.Request.of(new ViewQuery(Map.of())))
                        .locks())
                .extracting(StoreSummary.Lock::mark)
                .containsOnly("deadlock");
    }

    @Test
    @DisplayName("cuts a cycle open that may be due to records of different times")
    void unconfirmed() {
        BlockingForest forest = forest(deadlock(1L, 2L));
        assertThat(forest.cycles()).isEmpty();
        assertThat(roots(forest)).containsExactly("q(p(r x))");
        assertThat(views().overview().toString()).contains("\"deadlocks\":0").doesNotContain("Deadlock");
        assertThat(views().lock("a").toString())
                .contains("The holder itself waits for b, held by q, which waits for c.");
    }

    @Test
    @DisplayName("finds deadlocks inside of one process, of which the store sees no claim")
    void insideAProcess() {
        BlockingForest forest = forest(
                mutex("a", List.of(blocked("p", 1, Records.wait(1, "b", 2L))), List.of()),
                mutex("b", List.of(blocked("p", 2, Records.wait(2, "a", 1L))), List.of()));
        assertThat(forest.cycles()).hasSize(1);
        assertThat(views().overview().toString()).contains("2 threads wait for each other");
    }

    @Test
    @DisplayName("finds each of two deadlocks with a common member")
    void twoDeadlocks() {
        BlockingForest forest = forest(
                Records.of(
                        "a",
                        Kind.READ_WRITE,
                        List.of(blocked("p", 1, Records.wait(1, "b", 3L)), blocked("q", 2, Records.wait(2, "b", 3L))),
                        List.of()),
                mutex("b", List.of(blocked("r", 3, Records.wait(3, "a", 1L, 2L))), List.of()));
        assertThat(forest.cycles()).hasSize(2);
    }

    @Test
    @DisplayName("knows that readers do not block readers")
    void readers() {
        LockInfo.Wait reader = new LockInfo.Wait(1, "b", false, false, 1, "t", Duration.ZERO, Set.of(2L));
        LockInfo.Wait other = new LockInfo.Wait(2, "a", false, false, 2, "t", Duration.ZERO, Set.of(1L));
        assertThat(forest(
                                Records.of("a", Kind.READ_WRITE, List.of(blocked("p", 1, reader)), List.of()),
                                Records.of("b", Kind.READ_WRITE, List.of(blocked("q", 2, other)), List.of()))
                        .cycles())
                .isEmpty();
    }

    @Test
    @DisplayName(
            "puts a writer behind the reader that waits itself, and a semaphore's queue behind a holder that does not")
    void manyHolders() {
        List<LockInfo.Holder> holders = List.of(holder("p", 1, TTL), blocked("q", 2, Records.wait(2, "x")));
        LockInfo x = mutex("x", List.of(holder("z", 9, TTL)), List.of());
        assertThat(roots(forest(x, Records.of("a", Kind.READ_WRITE, holders, List.of(waiter("w", 7))))))
                .containsExactly("z(q(w))");
        assertThat(roots(forest(x, Records.of("a", Kind.SEMAPHORE, holders, List.of(waiter("w", 7))))))
                .containsExactlyInAnyOrder("z(q)", "p(w)");
    }

    @Test
    @DisplayName("counts claims that the store does not list")
    void unlisted() {
        BlockingForest forest = forest(new LockInfo(
                "a",
                Kind.MUTEX,
                Order.FAIR,
                1,
                List.of(holder("p", 1, TTL)),
                1,
                1,
                List.of(waiter("q", 2), waiter("r", 3)),
                300,
                9));
        assertThat(forest.roots().get(0).countBehind()).isEqualTo(300);
        assertThat(views().blocking(new ViewQuery(Map.of("least", "0"))).toString())
                .contains("\"behind\":300", "\"cut\":298");
    }

    @Test
    @DisplayName("draws a part of a chain of thousands")
    void longChain() {
        List<LockInfo> locks = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            locks.add(mutex(
                    "%05d".formatted(i),
                    List.of(
                            i == 0
                                    ? holder("p", 1, TTL)
                                    : blocked("p" + i, i, Records.wait(i, "%05d".formatted(i - 1)))),
                    List.of()));
        }
        BlockingForest forest = forest(locks.toArray(LockInfo[]::new));
        assertThat(forest.roots())
                .singleElement()
                .satisfies(root -> assertThat(root.countBehind()).isEqualTo(4_999));
        assertThat(views().blocking(new ViewQuery(Map.of("least", "0"))).toString())
                .contains("\"behind\":4999", "\"cut\":4500");
        assertThat(views().lock("04999").toString()).contains(", and so on.");
    }

    @Test
    @DisplayName("does not believe that a thread has waited since before it was born")
    void absurdWait() {
        forest(mutex(
                "a",
                List.of(blocked(
                        "p",
                        1,
                        new LockInfo.Wait(1, "b", true, true, 1, "t", Duration.ofMillis(Long.MAX_VALUE), Set.of()))),
                List.of(waiter("q", 2))));
        assertThat(views().blocking(new ViewQuery(Map.of("least", "0"))).toString())
                .contains("\"waitsSince\":\"2025-11-27T");
    }
}
