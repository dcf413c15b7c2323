package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.spi.Command.KeepAlive;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A keep-alive without an answer")
@Tag("C19")
class UnansweredKeepAliveTest {

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();

    private Holdfast client(Duration ttl) {
        return world.client(world.builder("alice", link).sessionTtl(ttl));
    }

    private static Duration step(Duration ttl) {
        return ttl.dividedBy(200);
    }

    /** Advances time in small steps until one more keep-alive was sent; returns how long that took. */
    private Duration untilNext(Duration ttl) {
        int before = link.sent(KeepAlive.class).size();
        Duration passed = Duration.ZERO;
        while (link.sent(KeepAlive.class).size() == before) {
            assertThat(passed).as("no keep-alive so far").isLessThan(ttl);
            world.advance(step(ttl));
            passed = passed.plus(step(ttl));
        }
        return passed;
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0.2S", "PT1.5S", "PT2S", "PT6S", "PT12S", "PT30S"})
    @DisplayName("is repeated within a third of the ttl, and the hold goes on with its token, whatever the ttl is")
    void isRepeatedInTime(String text) throws InterruptedException {
        Duration ttl = Duration.parse(text);
        Hold hold = client(ttl).lock("ledger").acquire();
        long token = hold.fencingToken();
        for (int i = 0; i < 5; i++) {
            link.loseNext(KeepAlive.class);
            Duration third = ttl.dividedBy(3).plus(step(ttl));
            assertThat(untilNext(ttl)).isLessThanOrEqualTo(third);
            Duration repeated = untilNext(ttl);
            // After a pause that grows with failures and not with the ttl.
            assertThat(repeated).isLessThanOrEqualTo(third.plusMillis(40));
            assertThat(hold.isHeld()).isTrue();
        }
        assertThat(hold.fencingToken()).isEqualTo(token);
        hold.close();
    }

    @Test
    @DisplayName(
            "is repeated after pauses that grow, to no more than a third of the interval: the store is asked in time")
    void pauses() throws InterruptedException {
        Duration ttl = Duration.ofSeconds(3);
        Hold hold = world.client(world.builder("alice", link).sessionTtl(ttl).keepAliveEvery(Duration.ofMillis(600)))
                .lock("ledger")
                .acquire();
        link.fail(KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);

        world.advance(Duration.ofMillis(2_300));

        // Pauses of about 40, 80 and 160 ms, then of 200 ms, each a quarter longer or shorter.
        assertThat(link.sent(KeepAlive.class)).hasSizeBetween(9, 13);
        link.mend();
        world.advance(ttl);
        assertThat(hold.isHeld()).isTrue();
        hold.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0.2S", "PT2S", "PT30S"})
    @DisplayName("says how long it waits for its answer: less than a third of the ttl")
    void saysItsPatience(String text) throws InterruptedException {
        Duration ttl = Duration.parse(text);
        Hold hold = client(ttl).lock("ledger").acquire();
        world.advance(ttl);
        assertThat(link.sent(KeepAlive.class))
                .isNotEmpty()
                .allSatisfy(
                        sent -> assertThat(sent.responseTimeout()).isPositive().isLessThan(ttl.dividedBy(3)));
        hold.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT2S", "PT30S"})
    @DisplayName("counts all the same when the answer comes before the deadline, though it was repeated for nothing")
    @Tag("C14")
    void lateAnswerCounts(String text) throws InterruptedException {
        Duration ttl = Duration.parse(text);
        Hold hold = client(ttl).lock("ledger").acquire();
        FaultyLink.HeldUp late = link.holdUpNext(KeepAlive.class);
        untilNext(ttl);
        link.fail(KeepAlive.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
        world.advance(ttl.dividedBy(2));
        late.proceed();
        // Past the deadline before that, which was counted from the opening of the session; not past that of the
        // keep-alive.
        world.advance(ttl.dividedBy(5));
        assertThat(hold.isHeld()).isTrue();
        link.mend();
        world.advance(ttl);
        assertThat(hold.isHeld()).isTrue();
        hold.close();
    }

    @Test
    @DisplayName("whose late answer is that the session has ended ends its holds at once")
    void lateEndCounts() throws InterruptedException {
        Duration ttl = Duration.ofSeconds(30);
        Hold hold = client(ttl).lock("ledger").acquire();
        FaultyLink.HeldUp late = link.holdUpNext(KeepAlive.class);
        untilNext(ttl);
        link.fail(KeepAlive.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
        world.advance(ttl.dividedBy(2));
        assertThat(hold.isHeld()).isTrue();

        late.answer(new Reply.SessionEnded());

        assertThat(hold.isHeld()).isFalse();
        assertThatThrownBy(hold::close)
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        e -> assertThat(e.loss().cause()).isEqualTo(Loss.Cause.SESSION_ENDED));
    }
}
