package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Loss;
import dev.holdfast.Permits;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.admin.LockAdmin;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.LockPage;
import dev.holdfast.admin.LockQuery;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("An operator")
class InspectionTest {

    private final World world = World.still();
    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("alice");
    private final Holdfast bob = world.client("bob");
    private final Holdfast operator = world.client("operator", link);

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    @Tag("Z1")
    @DisplayName("sees who holds a lock, since when, for how long and with which token, and who waits")
    void oneName() throws Exception {
        Hold hold = alice.lock("ledger").acquire();
        world.advance(Duration.ofSeconds(2));
        CompletableFuture<Hold> waiting = bob.lock("ledger").acquireAsync().toCompletableFuture();
        Eventually.holds("bob waits", () -> world.waitersOf("ledger") == 1);
        LockInfo info = operator.inspect("ledger").orElseThrow();
        assertThat(info.name()).isEqualTo("ledger");
        assertThat(info.kind()).isEqualTo(Kind.MUTEX);
        assertThat(info.isHeld()).isTrue();
        assertThat(info.holders()).singleElement().satisfies(holder -> {
            assertThat(holder.label()).isEqualTo("alice");
            assertThat(holder.token()).isEqualTo(hold.fencingToken());
            assertThat(holder.hasToken(hold.fencingToken())).isTrue();
            assertThat(holder.leaseLeft()).isEqualTo(Duration.ofSeconds(28));
            assertThat(holder.since()).isPresent();
        });
        assertThat(info.waiters()).extracting(LockInfo.Waiter::label).containsExactly("bob");
        assertThat(info.waiting()).isEqualTo(1);
        assertThat(operator.inspectAsync("ledger").toCompletableFuture().join()).contains(info);
        hold.close();
        Eventually.holds("bob has it", waiting::isDone);
        waiting.join().close();
    }

    @Test
    @Tag("Z1")
    @DisplayName("sees a time of the grant that is right to a second")
    void since() throws Exception {
        Hold hold = alice.lock("ledger").acquire();
        Instant now = Instant.ofEpochMilli(world.time().wallMillis());
        world.advance(Duration.ofSeconds(10));
        Instant since = operator.inspect("ledger")
                .orElseThrow()
                .holders()
                .get(0)
                .since()
                .orElseThrow();
        assertThat(Duration.between(since, now).abs()).isLessThanOrEqualTo(Duration.ofSeconds(1));
        hold.close();
    }

    @Test
    @Tag("Z1")
    @DisplayName("sees nothing of a name that nobody uses, and is refused a name that is none")
    void noName() {
        assertThat(operator.inspect("nobody's").filter(LockInfo::isInUse)).isEmpty();
        assertThatThrownBy(() -> operator.inspect(" ")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> operator.forceRelease("ledger", 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("positive");
    }

    @Test
    @Tag("Z1")
    @DisplayName("sees all holders of a semaphore, however many there are")
    void manyHolders() throws Exception {
        DistributedSemaphore semaphore = alice.semaphore("gpu", 3_000);
        List<Permits> all = new ArrayList<>();
        for (int i = 0; i < 2_100; i++) {
            all.add(semaphore.acquire());
        }
        LockInfo info = operator.inspect("gpu").orElseThrow();
        assertThat(info.holding()).isEqualTo(2_100);
        assertThat(info.usedCapacity()).isEqualTo(2_100);
        assertThat(info.holders().stream().map(LockInfo.Holder::claim).distinct())
                .hasSize(2_100);
        all.forEach(Permits::close);
    }

    @Test
    @Tag("Z1")
    @DisplayName("sees all names, page by page and by prefix, each once")
    void pages() throws Exception {
        List<Hold> holds = new ArrayList<>();
        for (String name : names()) {
            holds.add(alice.lock(name).acquire());
        }
        holds.add(alice.lock("other").acquire());
        assertThat(all(operator, LockQuery.startingWith("job/").withLimit(7))).isEqualTo(names());
        assertThat(all(operator, LockQuery.all().withLimit(100))).hasSize(26).contains("other");
        LockPage first = operator.inspectAsync(LockQuery.all().withLimit(3))
                .toCompletableFuture()
                .join();
        assertThat(first.locks()).hasSize(3);
        assertThat(first.next()).isPresent();
        holds.forEach(Hold::close);
    }

    private static List<String> names() {
        return IntStream.range(0, 25)
                .mapToObj(i -> String.format(Locale.ROOT, "job/%02d", i))
                .toList();
    }

    private static List<String> all(LockAdmin admin, LockQuery query) {
        List<String> names = new ArrayList<>();
        for (Optional<LockQuery> next = Optional.of(query); next.isPresent(); ) {
            LockPage page = admin.inspect(next.get());
            page.locks().forEach(info -> names.add(info.name()));
            next = page.next();
        }
        return names;
    }

    @Test
    @Tag("Z2")
    @DisplayName("ends the hold of a token and no later one, and its holder is told")
    void force() throws Exception {
        DistributedLock lock = alice.lock("ledger");
        List<Loss> losses = new CopyOnWriteArrayList<>();
        Actor thread = world.actor("alice");
        Hold hold = thread.call(() -> lock.acquire());
        hold.onLost(losses::add);
        long token = operator.inspect("ledger").orElseThrow().holders().get(0).token();
        assertThat(operator.forceRelease("ledger", token + 1_000)).isFalse();
        assertThat(hold.isHeld()).isTrue();
        assertThat(operator.forceRelease("ledger", token)).isTrue();
        Eventually.holds("alice is told", () -> !losses.isEmpty());
        assertThat(losses).extracting(Loss::cause).containsExactly(Loss.Cause.REMOVED);
        Hold next = bob.lock("ledger").acquire();
        assertThat(next.fencingToken()).isGreaterThan(token);
        assertThat(operator.forceReleaseAsync("ledger", token)
                        .toCompletableFuture()
                        .join())
                .isFalse();
        assertThat(next.isHeld()).isTrue();
        next.close();
    }

    @Test
    @Tag("Z3")
    @DisplayName("is told that the store does not answer, and the client's holds are as they were")
    void unanswered() throws Exception {
        Hold hold = operator.lock("mine").acquire();
        link.cutFor(command -> command instanceof Command.Inspect || command instanceof Command.ForceRelease);
        Actor thread = world.actor("operator");
        Doing<Optional<LockInfo>> asking = thread.start(() -> operator.inspect("ledger"));
        world.advance(Duration.ofSeconds(15));
        assertThatThrownBy(asking::result)
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContainingAll("'ledger'", "could not be inspected", "Nothing was changed");
        Doing<Boolean> forcing = thread.start(() -> operator.forceRelease("ledger", 12));
        world.advance(Duration.ofSeconds(15));
        assertThatThrownBy(forcing::result)
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContainingAll("'ledger'", "token 12", "unknown", "Repeat");
        assertThat(hold.isHeld()).isTrue();
        assertThat(operator.state().isConnected()).isTrue();
        hold.close();
    }

    @Test
    @Tag("Z3")
    @DisplayName("is told why the store refuses")
    void refused() {
        link.fail(Command.Inspect.class, Reason.DENIED, Effect.NONE);
        assertThatThrownBy(() -> operator.inspect(LockQuery.all()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("can't be inspected");
        assertThatThrownBy(() ->
                        operator.inspectAsync("ledger").toCompletableFuture().join())
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(StoreRefusedException.class);
    }

    @Test
    @Tag("C9")
    @DisplayName("of a client that is closed is told so, also in the middle of a question")
    void closed() throws Exception {
        link.cutFor(Command.Inspect.class::isInstance);
        Doing<Optional<LockInfo>> asking = world.actor("operator").start(() -> operator.inspect("ledger"));
        Eventually.holds("it asks", () -> !link.sent(Command.Inspect.class).isEmpty());
        operator.close();
        assertThatThrownBy(asking::result).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> operator.inspect("ledger")).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> operator.forceRelease("ledger", 1)).isInstanceOf(ClientClosedException.class);
    }

    @Test
    @Tag("Z1")
    @DisplayName("needs no client: an open store is enough, and nothing of it is a session")
    void withoutClient() throws Exception {
        Hold hold = alice.lock("ledger").acquire();
        FaultyLink own = world.link();
        LockAdmin admin = LockAdmin.of(own, Duration.ofSeconds(60));
        long token = admin.inspect("ledger").orElseThrow().holders().get(0).token();
        assertThat(token).isEqualTo(hold.fencingToken());
        assertThat(all(admin, LockQuery.all())).containsExactly("ledger");
        assertThat(admin.forceReleaseAsync("ledger", token)
                        .toCompletableFuture()
                        .join())
                .isTrue();
        assertThat(own.sent(Command.OpenSession.class)).isEmpty();
        own.fail(Command.Inspect.class, Reason.UNAVAILABLE, Effect.NONE);
        assertThatThrownBy(() -> admin.inspect("ledger")).isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    @Tag("Z3")
    @DisplayName("without a client is not kept waiting by a store that does not answer")
    void withoutClientAndAnswer() {
        FaultyLink own = world.link();
        own.cut();
        LockAdmin admin = LockAdmin.of(own, Duration.ofMillis(20));
        assertThatThrownBy(() -> admin.inspect("ledger"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("did not answer within 20 ms");
    }
}
