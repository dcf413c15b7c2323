package dev.holdfast.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The polls of a store")
class StorePollerTest {

    private final ScriptedAdmin store = new ScriptedAdmin();
    private final ManualClock clock = new ManualClock();
    private final SeenStore seen = new SeenStore();
    private final StorePoller poller = new StorePoller(() -> Optional.of(store.admin()), "", seen, clock);

    @AfterEach
    void close() {
        poller.close();
    }

    @Test
    @DisplayName("read one page of names with each request")
    void onePage() {
        store.put(Records.mutex("a", List.of(), List.of()));
        assertThat(poller.poll()).isEqualTo(StorePoller.INTERVAL);
        poller.poll();
        assertThat(store.requests).containsExactly("page after -", "page after -");
        assertThat(seen.lock("a")).isNotNull();
    }

    @Test
    @DisplayName("of many names take turns with those that are waited for, and with those on screens")
    void manyPages() {
        store.pageSize = 2;
        for (String name : List.of("a", "b", "c", "d", "e")) {
            store.put(Records.mutex(name, List.of(Records.holder("p", 1, Records.TTL)), List.of()));
        }
        store.put(Records.mutex("c", List.of(), List.of(Records.waiter("q", 2))));
        poller.poll();
        poller.close(); // no thread: this test makes the requests
        poller.view("e");
        for (int i = 0; i < 7; i++) {
            poller.poll();
        }
        assertThat(store.requests)
                .containsExactly(
                        "page after -",
                        "waited after -",
                        "inspect e",
                        "waited after -",
                        "page after b",
                        "waited after -",
                        "inspect e",
                        "waited after -");
        clock.advance(StorePoller.VIEWER_STAYS.plusMillis(1));
        store.requests.clear();
        for (int i = 0; i < 4; i++) {
            poller.poll();
        }
        assertThat(store.requests).containsExactly("page after d", "waited after -", "page after -", "waited after -");
    }

    @Test
    @DisplayName("see the end of a queue among many names within four requests")
    void endOfAQueue() {
        store.pageSize = 2;
        for (char name = 'a'; name < 'z'; name++) {
            store.put(Records.mutex(
                    Character.toString(name), List.of(), name == 'a' ? List.of(Records.waiter("q", 2)) : List.of()));
        }
        for (int i = 0; i < 6; i++) {
            poller.poll();
        }
        assertThat(seen.waited()).containsExactly("a");
        store.put(Records.mutex("a", List.of(), List.of()));
        for (int i = 0; i < 4; i++) {
            poller.poll();
        }
        assertThat(seen.waited()).isEmpty();
        assertThat(store.requests).contains("inspect a");
    }

    @Test
    @DisplayName("read a name on a screen while many queues end")
    void manyQueuesEnd() {
        store.pageSize = 20;
        for (int i = 10; i < 50; i++) {
            store.put(Records.mutex("a" + i, List.of(), List.of(Records.waiter("q", i))));
        }
        store.put(Records.mutex("z", List.of(), List.of()));
        for (int i = 0; i < 12; i++) {
            poller.poll();
        }
        poller.close(); // no thread: this test makes the requests
        store.locks.replaceAll((name, info) -> Records.mutex(name, List.of(), List.of()));
        poller.view("z");
        store.requests.clear();
        for (int i = 0; i < 8; i++) {
            poller.poll();
        }
        assertThat(store.requests).contains("inspect z");
    }

    /** Polls until a request was sent. */
    private void poll(String request) {
        store.requests.clear();
        while (!store.requests.contains(request)) {
            poller.poll();
            assertThat(store.requests).hasSizeLessThan(100);
        }
    }

    @Test
    @DisplayName("forget a name that the store no longer lists, but not in the middle of a walk")
    void forgets() {
        store.pageSize = 1;
        store.put(Records.mutex("a", List.of(), List.of()));
        store.put(Records.mutex("b", List.of(), List.of()));
        poll("page after b");
        store.locks.remove("a");
        poll("page after -");
        assertThat(seen.lock("a")).isNotNull();
        poll("page after b");
        assertThat(seen.lock("a")).isNull();
        assertThat(seen.lock("b")).isNotNull();
    }

    @Test
    @DisplayName("keep a name that was created behind the walk and read since")
    void keepsNamesBehindTheWalk() {
        store.pageSize = 1;
        store.put(Records.mutex("b", List.of(), List.of()));
        store.put(Records.mutex("c", List.of(), List.of()));
        poller.close(); // no thread: this test makes the requests
        poll("page after b");
        store.put(Records.mutex("a", List.of(Records.holder("p", 1, Records.TTL)), List.of()));
        poller.view("a");
        poll("inspect a");
        poll("page after c");
        assertThat(seen.lock("a")).satisfies(lock -> {
            assertThat(lock.info().isHeld()).isTrue();
            assertThat(lock.ended()).isEmpty();
        });
    }

    @Test
    @DisplayName("go on after a driver lacked a class or memory was short")
    void survivesErrors() {
        store.failure = new NoClassDefFoundError("org/example/Driver");
        assertThat(poller.poll()).isEqualTo(Duration.ofSeconds(1));
        assertThat(seen.problem()).isEqualTo("org/example/Driver");
        store.failure = new OutOfMemoryError("Java heap space");
        assertThat(poller.poll()).isEqualTo(Duration.ofSeconds(2));
        store.failure = null;
        assertThat(poller.poll()).isEqualTo(StorePoller.INTERVAL);
    }

    @Test
    @DisplayName("begin again after whatever ended them")
    void restarts() {
        store.failure = new AssertionError("a defect that this test provokes");
        Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {});
        try {
            poller.view();
            Instant deadline = Instant.now().plusSeconds(20);
            while (poller.isPolling() && Instant.now().isBefore(deadline)) {
                Thread.onSpinWait();
            }
            assertThat(poller.isPolling()).isFalse();
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(handler);
        }
    }

    @Test
    @DisplayName("back off from a store that doesn't answer, and recover")
    void failure() {
        poller.poll();
        store.failure = new IllegalStateException("no answer");
        assertThat(List.of(poller.poll(), poller.poll(), poller.poll(), poller.poll()))
                .containsExactly(
                        Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(5), Duration.ofSeconds(5));
        assertThat(seen.awaySince()).isEqualTo(Records.START);
        assertThat(seen.problem()).isEqualTo("no answer");
        store.failure = null;
        assertThat(poller.poll()).isEqualTo(StorePoller.INTERVAL);
        assertThat(seen.awaySince()).isNull();
    }

    @Test
    @DisplayName("end after the last viewer, and begin again with the next")
    void onlyWithViewers() throws InterruptedException {
        assertThat(poller.isPolling()).isFalse();
        poller.view();
        seen.awaitFirst(-1, Duration.ofSeconds(20));
        assertThat(store.requests).isNotEmpty();
        clock.advance(StorePoller.VIEWER_STAYS.plusMillis(1));
        Instant deadline = Instant.now().plusSeconds(20);
        while (poller.isPolling() && Instant.now().isBefore(deadline)) {
            Thread.onSpinWait();
        }
        assertThat(poller.isPolling()).isFalse();
        int before = store.requests.size();
        poller.view();
        while (store.requests.size() == before && Instant.now().isBefore(deadline)) {
            Thread.onSpinWait();
        }
        assertThat(store.requests).hasSizeGreaterThan(before);
    }

    @Test
    @DisplayName("of many viewers are not more than those of one: at most two a second")
    void shared() throws InterruptedException {
        long began = System.nanoTime();
        for (int i = 0; i < 3; i++) {
            for (int viewer = 0; viewer < 50; viewer++) {
                poller.view();
            }
            long before = seen.sequence();
            assertThat(seen.awaitChange(before, Duration.ofSeconds(20))).isGreaterThan(before);
        }
        long halfSeconds = (System.nanoTime() - began) / StorePoller.INTERVAL.toNanos();
        assertThat(store.requests.size()).isLessThanOrEqualTo((int) halfSeconds + 1);
    }
}
