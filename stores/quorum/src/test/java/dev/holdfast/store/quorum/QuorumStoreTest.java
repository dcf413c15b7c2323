package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits.Admission;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.StoreTraits.TokenSource;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.memory.ReferenceStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is refused at once, what is promised, and who may join. */
@Tag("server")
class QuorumStoreTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private static QuorumStore of(ReferenceStore... members) {
        QuorumStore.Builder builder = QuorumStore.builder();
        for (ReferenceStore member : members) {
            builder.member(member.connect());
        }
        return builder.open();
    }

    private static Reply open(QuorumStore store) {
        return store.execute(new Command.OpenSession(MINUTE, "test"), CallerMode.BLOCKING)
                .toCompletableFuture()
                .join();
    }

    @Test
    @Tag("Q7")
    @DisplayName("Too few members, an even number and one named twice are refused")
    void numbers() {
        assertThatThrownBy(() -> of(new ReferenceStore())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() ->
                        of(new ReferenceStore(), new ReferenceStore(), new ReferenceStore(), new ReferenceStore()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("even");
        ReferenceStore one = new ReferenceStore();
        assertThatThrownBy(() -> QuorumStore.builder()
                        .member(one)
                        .member(new ReferenceStore())
                        .member(one)
                        .open())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("twice");
    }

    @Test
    @Tag("Q7")
    @DisplayName("One store under two names is found out when it is first used")
    void sameStoreTwice() {
        ReferenceStore one = new ReferenceStore();
        try (QuorumStore store = of(one, new ReferenceStore(), one)) {
            assertThatThrownBy(() -> open(store))
                    .isInstanceOf(CompletionException.class)
                    .cause()
                    .isInstanceOfSatisfying(
                            StoreException.class,
                            failure -> assertThat(failure.reason()).isEqualTo(StoreException.Reason.DENIED))
                    .hasMessageContaining("the same store");
        }
    }

    @Test
    @Tag("Q7")
    @DisplayName("Clients that disagree about the longest lease are refused")
    void otherLongestLease() {
        List<ReferenceStore> members = List.of(new ReferenceStore(), new ReferenceStore(), new ReferenceStore());
        try (QuorumStore first = of(members.toArray(ReferenceStore[]::new))) {
            assertThat(open(first)).isInstanceOf(Reply.SessionOpened.class);
            QuorumStore.Builder builder = QuorumStore.builder().longestLease(Duration.ofMinutes(2));
            members.forEach(member -> builder.member(member.connect()));
            try (QuorumStore second = builder.open()) {
                assertThatThrownBy(() -> open(second)).hasMessageContaining("longest lease of 1 min");
            }
        }
    }

    @Test
    @Tag("Q7")
    @DisplayName(
            "Nothing is granted by a new quorum of which a member is missing, and all that is there counts when it comes")
    void beginning() throws Exception {
        try (RedisServer late = RedisServer.start()) {
            late.kill();
            String uri = "quorum:(memory:begins-a,memory:begins-b," + late.uri() + "?connectTimeout=PT1S)";
            try (QuorumStore store = (QuorumStore) new QuorumStoreProvider().open(StoreUri.parse(uri))) {
                assertThatThrownBy(() -> open(store)).hasMessageContaining("starts when all members answer");
                late.restart();
                Awaiting.until("the member that was late is there", () -> {
                    try {
                        return open(store) instanceof Reply.SessionOpened;
                    } catch (CompletionException notYet) {
                        return false;
                    }
                });
            }
        }
    }

    @Test
    @Tag("Q7")
    @DisplayName("It does not open while only a minority of its members can be reached, and names the others")
    void minority() {
        QuorumStore.Builder builder = QuorumStore.builder()
                .member(new ReferenceStore())
                .member("redis://127.0.0.1:1")
                .member("redis://127.0.0.1:2");
        assertThatThrownBy(builder::open)
                .isInstanceOfSatisfying(
                        StoreException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(StoreException.Reason.UNAVAILABLE))
                .hasMessageContainingAll("Too few of the 3 members", "redis://127.0.0.1:1", "redis://127.0.0.1:2");
    }

    @Test
    @DisplayName("It promises exclusive and shared claims in no order")
    void traits() {
        try (QuorumStore store = of(new ReferenceStore(), new ReferenceStore(), new ReferenceStore());
                Holdfast client = Holdfast.builder(store).build()) {
            assertThat(store.traits().admissions()).containsExactlyInAnyOrder(Admission.EXCLUSIVE, Admission.SHARED);
            assertThat(store.traits().has(Feature.FIFO)).isFalse();
            assertThat(store.traits().tokenSource()).isEqualTo(TokenSource.QUORUM);
            assertThatThrownBy(() -> client.semaphore("permits", 2)).isInstanceOf(RuntimeException.class);
            assertThatThrownBy(() -> client.latch("latch")).isInstanceOf(RuntimeException.class);
        }
    }

    @Test
    @DisplayName("The members of a URI are parted at commas that a scheme follows, and may be quorums")
    void uris() {
        assertThat(members("quorum:(memory:a,memory:b,memory:c)")).containsExactly("memory:a", "memory:b", "memory:c");
        assertThat(members(
                        "quorum:(redis-sentinel://h1:1,h2:2,h3:3?x=y,quorum:(memory:a,memory:b,memory:c),sqlite:///p)"))
                .containsExactly(
                        "redis-sentinel://h1:1,h2:2,h3:3?x=y", "quorum:(memory:a,memory:b,memory:c)", "sqlite:///p");
        assertThatThrownBy(() -> members("quorum:memory:a")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> members("quorum:((memory:a)")).isInstanceOf(IllegalArgumentException.class);
    }

    private static List<String> members(String uri) {
        return QuorumStoreProvider.members(StoreUri.parse(uri));
    }

    @Test
    @DisplayName("Members may be of different kinds")
    void mixedKinds(@TempDir Path home) throws Exception {
        try (RedisServer redis = RedisServer.start()) {
            String uri = "quorum:(" + redis.uri() + ",sqlite://" + home.resolve("locks.db") + ",memory:mixed)";
            List<Long> tokens = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                try (Holdfast client = Holdfast.builder(uri)
                                .sessionTtl(Duration.ofSeconds(50))
                                .build();
                        Hold hold = client.lock("ledger").acquire()) {
                    tokens.add(hold.fencingToken());
                    assertThat(client.readWriteLock("catalogue").readLock().tryAcquire())
                            .isPresent();
                }
            }
            assertThat(tokens.get(1)).isGreaterThan(tokens.get(0));
        }
    }
}
