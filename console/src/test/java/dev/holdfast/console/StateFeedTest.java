package dev.holdfast.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The feed of states to pages")
class StateFeedTest {

    private final ScriptedAdmin store = new ScriptedAdmin();
    private final LockConsole console =
            LockConsole.builder(() -> Optional.of(store.admin())).build();
    private final StateFeed feed = new StateFeed(console);

    private static final class Page implements StateFeed.Page {
        final List<String> events = new CopyOnWriteArrayList<>();
        volatile boolean isReady = true;
        volatile boolean hasGone;

        @Override
        public boolean isReady() {
            return isReady;
        }

        @Override
        public void event(String name, long number, String data) {
            if (hasGone) {
                events.add("refused");
                throw new IllegalStateException("gone");
            }
            events.add(name + " " + data);
        }

        @Override
        public void comment() {
            events.add("comment");
        }

        @Override
        public void end() {
            events.add("end");
        }
    }

    @AfterEach
    void close() {
        feed.close();
        console.close();
    }

    private static void await(BooleanSupplier condition) {
        Instant deadline = Instant.now().plusSeconds(20);
        while (!condition.getAsBoolean() && Instant.now().isBefore(deadline)) {
            Thread.onSpinWait();
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    @Test
    @DisplayName("sends each page its view when it can take one, and forgets a page that has gone")
    void views() {
        Page locks = new Page();
        Page slow = new Page();
        Page gone = new Page();
        slow.isReady = false;
        gone.hasGone = true;
        assertThat(feed.add(Map.of("view", "locks"), locks)).isTrue();
        assertThat(feed.add(Map.of("view", "tasks"), slow)).isTrue();
        assertThat(feed.add(Map.of("view", "locks"), gone)).isTrue();
        await(() -> !locks.events.isEmpty() && !gone.events.isEmpty());
        assertThat(locks.events.get(0)).startsWith("state {\"overview\":{").contains("\"locks\":[]");
        assertThat(slow.events).isEmpty();
        slow.isReady = true;
        gone.hasGone = false;
        await(() -> !slow.events.isEmpty());
        assertThat(slow.events.get(0)).startsWith("state ").contains("\"tasks\":[]");
        assertThat(gone.events).containsExactly("refused");
    }

    @Test
    @DisplayName("reports a request that can't be answered, and ends its stream")
    void problem() {
        Page page = new Page();
        assertThat(feed.add(Map.of("view", "locks", "limit", "0"), page)).isTrue();
        await(() -> page.events.contains("end"));
        assertThat(page.events.get(0)).startsWith("problem {").contains("'limit'");
    }

    @Test
    @DisplayName("has fifty streams at most, which end when it is closed")
    void bound() {
        Page page = new Page();
        for (int i = 1; i < StateFeed.MAX_STREAMS; i++) {
            assertThat(feed.add(Map.of(), new Page())).isTrue();
        }
        assertThat(feed.add(Map.of(), page)).isTrue();
        assertThat(feed.add(Map.of(), new Page())).isFalse();
        feed.remove(page);
        assertThat(feed.add(Map.of(), page)).isTrue();
        feed.close();
        assertThat(page.events).contains("end");
        assertThat(feed.add(Map.of(), new Page())).isFalse();
    }
}
