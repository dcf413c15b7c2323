package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Holdfast;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.task.TaskOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.MapAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

@DisplayName("The health of scheduled tasks")
class TaskHealthTest {
    private static final TaskOptions OPTIONS = TaskOptions.atMost(Duration.ofMinutes(1));
    private static final StoreUri MEMORY = StoreUri.parse("memory:");

    /** Runs are recorded with the time of the machine, soon after this. */
    private final Instant start = Instant.now();

    private Instant now = start;
    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    private final HoldfastClients clients = new HoldfastClients(beans);
    private final List<LockStore> stores = new ArrayList<>();

    /** Leaves commands without an answer while it hangs. */
    private static final class Hanging extends ForwardingStore {
        private volatile boolean hangs;

        Hanging() {
            super(StoreProvider.of(MEMORY).open(MEMORY));
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            return hangs && command instanceof Command.ListRuns
                    ? new CompletableFuture<>()
                    : super.execute(command, caller);
        }
    }

    @AfterEach
    void close() {
        clients.present().values().forEach(Holdfast::close);
        stores.forEach(LockStore::close);
    }

    private Holdfast client(String name, LockStore store, String prefix) {
        Holdfast client = Holdfast.builder(store).namePrefix(prefix).build();
        stores.add(store);
        beans.registerSingleton(name, client);
        return client;
    }

    private Holdfast client(String name) {
        return client(name, StoreProvider.of(MEMORY).open(MEMORY), "");
    }

    /** The application starts. */
    private HoldfastTasksHealthIndicator started(Duration bound) {
        return new HoldfastTasksHealthIndicator(clients, Map.of("report", Duration.ofHours(25)), bound, () -> now);
    }

    private HoldfastTasksHealthIndicator started() {
        return started(Duration.ofSeconds(10));
    }

    private void hoursLater(int hours) {
        now = start.plus(Duration.ofHours(hours));
    }

    private static void succeed(Holdfast client) {
        AtomicLong token = new AtomicLong();
        client.task("report").runIfDue(OPTIONS, hold -> token.set(hold.fencingToken()));
        awaitRecorded(client, token.get());
    }

    private static void fail(Holdfast client, int times) {
        for (int i = 0; i < times; i++) {
            AtomicLong token = new AtomicLong();
            assertThatThrownBy(() -> client.task("report").runIfDue(OPTIONS, hold -> {
                        token.set(hold.fencingToken());
                        throw new IllegalStateException("no");
                    }))
                    .isInstanceOf(IllegalStateException.class);
            awaitRecorded(client, token.get());
        }
    }

    private static void awaitRecorded(Holdfast client, long token) {
        await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1)).until(() -> {
            List<RecordedRun> runs = client.runs(client.namePrefix() + "report");
            return !runs.isEmpty() && runs.get(0).token() == token;
        });
    }

    private static MapAssert<Object, Object> assertDetails(Health health, String name) {
        return assertThat(health.getDetails()).extractingByKey(name, InstanceOfAssertFactories.MAP);
    }

    @Test
    @DisplayName("keeps a success that failures pushed out of the history")
    void keepsSuccess() {
        Holdfast client = client("holdfast");
        hoursLater(-100);
        HoldfastTasksHealthIndicator indicator = started();
        succeed(client);
        hoursLater(1);
        assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
        fail(client, 5);
        assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
        fail(client, 7);
        Health pushedOut = indicator.health();
        assertThat(pushedOut.getStatus()).isEqualTo(Status.UP);
        assertDetails(pushedOut, "report")
                .containsEntry("lastOutcome", RecordedRun.Outcome.FAILED)
                .containsKey("succeeded");
        hoursLater(26);
        Health late = indicator.health();
        assertThat(late.getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
        assertDetails(late, "report").containsEntry("problem", "has not succeeded for 25 h");
    }

    @Test
    @DisplayName("assumes no failure in runs that were dropped before it saw them")
    void droppedRuns() {
        Holdfast client = client("holdfast");
        hoursLater(-100);
        HoldfastTasksHealthIndicator indicator = started();
        fail(client, 12);
        hoursLater(1);
        assertThat(indicator.health().getStatus()).as("first check").isEqualTo(Status.UP);
        fail(client, 3);
        hoursLater(26);
        assertThat(indicator.health().getStatus()).as("only failures since").isEqualTo(Status.OUT_OF_SERVICE);
    }

    @Test
    @DisplayName("counts a task that always fails from its oldest recorded run, also after a restart")
    void alwaysFails() {
        Holdfast client = client("holdfast");
        fail(client, 2);
        hoursLater(24);
        HoldfastTasksHealthIndicator restarted = started();
        assertThat(restarted.health().getStatus()).isEqualTo(Status.UP);
        hoursLater(26);
        Health late = restarted.health();
        assertThat(late.getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
        assertDetails(late, "report")
                .containsEntry("problem", "has not succeeded for 25 h: all recorded runs failed")
                .doesNotContainKey("succeeded");
    }

    @Test
    @DisplayName("counts from the start of the application what has only failed since")
    void failsSinceStart() {
        Holdfast client = client("holdfast");
        hoursLater(-26);
        HoldfastTasksHealthIndicator indicator = started();
        fail(client, 9);
        hoursLater(0);
        assertThat(indicator.health().getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
        fail(client, 9);
        assertThat(indicator.health().getStatus()).as("with a full history").isEqualTo(Status.OUT_OF_SERVICE);
    }

    @Test
    @DisplayName("joins the runs of all clients, each with its prefix")
    void severalClients() {
        Holdfast first = client("reports");
        Holdfast second = client("holdfast", StoreProvider.of(MEMORY).open(MEMORY), "ours/");
        hoursLater(-26);
        HoldfastTasksHealthIndicator indicator = started();
        hoursLater(1);
        assertThat(indicator.health().getStatus()).as("never run").isEqualTo(Status.OUT_OF_SERVICE);
        fail(first, 1);
        assertThat(indicator.health().getStatus()).as("failed").isEqualTo(Status.OUT_OF_SERVICE);
        succeed(second);
        Health health = indicator.health();
        assertThat(health.getStatus()).isEqualTo(Status.UP);
        assertDetails(health, "report").containsEntry("lastOutcome", RecordedRun.Outcome.SUCCEEDED);
    }

    @Test
    @DisplayName("is down with the name of a client that does not answer")
    void silentClient() {
        Hanging store = new Hanging();
        succeed(client("holdfast"));
        succeed(client("reports", store, ""));
        HoldfastTasksHealthIndicator indicator = started(Duration.ofMillis(100));
        hoursLater(26);
        store.hangs = true;
        Health health = indicator.health();
        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
        assertThat(health.getDetails()).containsOnlyKeys("report", "reports");
        assertDetails(health, "reports").containsEntry("problem", "The store did not answer within 100 ms");
        assertDetails(health, "report").containsKey("succeeded").doesNotContainKey("problem");
        clients.get("reports").close();
        assertThat(indicator.health().getStatus()).as("closed").isEqualTo(Status.DOWN);
    }
}
