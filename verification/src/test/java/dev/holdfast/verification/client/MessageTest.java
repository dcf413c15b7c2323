package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.LockQuery;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Annotate;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The message of a holder")
class MessageTest {

    private static final AcquireOptions RELEASE = AcquireOptions.defaults().withMessage("release 4.2, by job 812");

    private final World world = World.still();
    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("alice", link);
    private final Holdfast bob = world.client("bob");

    @AfterEach
    void close() {
        world.close();
    }

    private String shown(String name) {
        return bob.inspect(name)
                .filter(LockInfo::isHeld)
                .map(info -> info.holders().get(0).message())
                .orElse("nobody holds it");
    }

    private void awaitShown(String name, String message) {
        Eventually.holds("'" + message + "' is shown", () -> shown(name).equals(message));
    }

    @Test
    @Tag("Z8")
    @DisplayName("is shown to others while it holds, and in the exception of one that has waited in vain")
    void isShown() throws Exception {
        Hold hold = alice.lock("ledger").acquire(RELEASE);
        awaitShown("ledger", "release 4.2, by job 812");
        Actor waiter = world.actor("bob");
        Actor.Doing<Hold> waits = waiter.startWaiting(() -> bob.lock("ledger").acquire(Duration.ofSeconds(3)));
        Eventually.holds("bob waits", () -> world.waitersOf("ledger") == 1);
        world.advance(Duration.ofSeconds(2));
        assertThat(bob.inspect("ledger").orElseThrow().waiters())
                .singleElement()
                .satisfies(one -> assertThat(one.waited()).contains(Duration.ofSeconds(2)));
        assertThat(bob.inspect(LockQuery.all().onlyWaited()).locks())
                .extracting(LockInfo::name)
                .containsExactly("ledger");
        world.advance(Duration.ofSeconds(2));
        assertThatThrownBy(waits::result)
                .isInstanceOf(LockWaitTimeoutException.class)
                .hasMessageContaining("(\"release 4.2, by job 812\")");
        hold.close();
        alice.lock("ledger").acquire().close();
        assertThat(link.sent(Command.Release.class).get(0).isAnnotated()).isTrue();
        assertThat(link.sent(Command.Release.class).get(1).isAnnotated()).isFalse();
    }

    @Test
    @Tag("Z8")
    @DisplayName("costs nothing if there is none, and one command if there is one")
    void costs() throws Exception {
        alice.lock("ledger").acquire().close();
        assertThat(link.sent(Annotate.class)).isEmpty();
        Hold hold = alice.lock("ledger").acquire(RELEASE);
        Hold again = alice.lock("ledger").acquire(RELEASE);
        awaitShown("ledger", "release 4.2, by job 812");
        again.close();
        hold.close();
        assertThat(link.sent(Annotate.class)).hasSize(1);
    }

    @Test
    @Tag("Z8")
    @DisplayName("is replaced by that of the next holder when the lock is handed over in memory")
    void handedOver() throws Exception {
        DistributedLock lock = alice.lock("ledger");
        Hold first = lock.acquireAsync(RELEASE).toCompletableFuture().join();
        awaitShown("ledger", "release 4.2, by job 812");
        CompletableFuture<Hold> second = lock.acquireAsync(
                        AcquireOptions.defaults().withMessage("backup"))
                .toCompletableFuture();
        CompletableFuture<Hold> third = lock.acquireAsync().toCompletableFuture();
        first.close();
        second.join();
        awaitShown("ledger", "backup");
        second.join().close();
        third.join();
        awaitShown("ledger", "");
        third.join().close();
    }

    @Test
    @Tag("Z8")
    @DisplayName(
            "that changes while another is on its way is sent after the answer to that one, with the last text only")
    void oneAtATime() throws Exception {
        DistributedLock lock = alice.lock("ledger");
        FaultyLink.HeldUp annotation = link.holdUpNext(Annotate.class);
        Hold first = lock.acquireAsync(RELEASE).toCompletableFuture().join();
        annotation.awaitCommand();
        for (String message : List.of("backup", "restore")) {
            CompletableFuture<Hold> next = lock.acquireAsync(
                            AcquireOptions.defaults().withMessage(message))
                    .toCompletableFuture();
            first.close();
            first = next.join();
        }
        assertThat(link.sent(Annotate.class)).hasSize(1);

        annotation.proceed();

        awaitShown("ledger", "restore");
        assertThat(link.sent(Annotate.class))
                .extracting(Annotate::text)
                .containsExactly(RELEASE.message().get(), "restore");
        first.close();
    }

    @Test
    @Tag("Z8")
    @DisplayName("of readers that share a grant is that of the oldest who has one")
    void shared() throws Exception {
        DistributedLock read = alice.readWriteLock("prices").readLock();
        Hold silent = read.acquireAsync().toCompletableFuture().join();
        Hold older = read.acquireAsync(RELEASE).toCompletableFuture().join();
        Hold newer = read.acquireAsync(AcquireOptions.defaults().withMessage("backup"))
                .toCompletableFuture()
                .join();
        awaitShown("prices", "release 4.2, by job 812");
        older.close();
        awaitShown("prices", "backup");
        newer.close();
        awaitShown("prices", "");
        silent.close();
    }

    @Test
    @Tag("Z8")
    @DisplayName("that the store does not answer for delays nothing, and is sent again when the client compares notes")
    void failing() throws Exception {
        link.failNext(Annotate.class, Reason.UNAVAILABLE, Effect.NONE);
        Hold hold = alice.lock("ledger").acquire(RELEASE);
        Eventually.holds("it was sent", () -> link.sent(Annotate.class).size() == 1);
        assertThat(shown("ledger")).isEmpty();
        assertThat(hold.isHeld()).isTrue();
        world.advanceUntil("it is sent again", () -> shown("ledger").equals("release 4.2, by job 812"));
        hold.close();
    }

    @Test
    @Tag("Z8")
    @DisplayName("is sent again after half an hour, before a store may drop it")
    void repeated() throws Exception {
        Hold hold = alice.lock("ledger").acquire(RELEASE);
        awaitShown("ledger", "release 4.2, by job 812");
        for (int minutes = 0; minutes < 35; minutes++) {
            world.advance(Duration.ofMinutes(1));
        }
        Eventually.holds("it was sent again", () -> link.sent(Annotate.class).size() == 2);
        assertThat(link.sent(Annotate.class)).extracting(Annotate::seq).isEqualTo(List.of(1L, 2L));
        hold.close();
    }

    @Test
    @Tag("Z8")
    @DisplayName("of an extended, a lost and a forced hold ends with it")
    void endsWithItsHold() throws Exception {
        Hold hold = alice.lock("ledger").acquire(RELEASE);
        awaitShown("ledger", "release 4.2, by job 812");
        assertThat(bob.forceRelease("ledger", hold.fencingToken())).isTrue();
        Hold next = bob.lock("ledger").acquire();
        assertThat(shown("ledger")).isEmpty();
        next.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "two\nlines", "bell\u0007", "escape \u001b[31m", "\u202eback", "\u2028", "half \ud83d"})
    @Tag("Z8")
    @DisplayName("that is not one plain line is refused before anything is asked")
    void refused(String text) {
        assertThatThrownBy(() -> AcquireOptions.defaults().withMessage(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("A message must");
    }

    @Test
    @Tag("Z8")
    @DisplayName("may be markup and emoji, in 256 bytes and not one more")
    void accepted() {
        for (String text : List.of("<b>&amp;\"'</b>", "👩‍🚒 déploiement", "x".repeat(256), "ß".repeat(128))) {
            assertThat(AcquireOptions.defaults().withMessage(text).message()).contains(text);
        }
        for (String text : List.of("x".repeat(257), "ß".repeat(128) + "x")) {
            assertThatThrownBy(() -> AcquireOptions.defaults().withMessage(text))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("257 bytes");
        }
    }
}
