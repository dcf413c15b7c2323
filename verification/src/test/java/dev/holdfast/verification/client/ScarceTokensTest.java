package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A lock that is passed on faster than the store's clock gives tokens")
class ScarceTokensTest {

    private static final long TOKENS_OF_A_MILLISECOND = 1_024;

    /** Far more than there are tokens for: who does not wait for the clock gets here. */
    private static final long TOO_MANY = 500_000;

    private final World world = World.still();
    private final FaultyLink link = world.link();
    private final DistributedLock lock = world.client("alice", link).lock("ledger");
    private final AtomicLong handOvers = new AtomicLong();
    private final AtomicLong newest = new AtomicLong();
    private volatile boolean isOver;

    @AfterEach
    void close() {
        isOver = true;
        world.advance(Duration.ofMillis(20));
        world.close();
    }

    private void waitsAndPassesOn() {
        var unused = lock.acquireAsync().thenAccept(this::passesOn);
    }

    private void passesOn(Hold hold) {
        assertThat(hold.fencingToken()).isGreaterThan(newest.getAndSet(hold.fencingToken()));
        if (handOvers.incrementAndGet() < TOO_MANY && !isOver) {
            waitsAndPassesOn();
        }
        hold.close();
    }

    @Test
    @DisplayName("asks for more once a millisecond, loses none of them, and stays within the lead")
    @Tag("C4")
    void asksOnceAMillisecond() {
        for (int i = 0; i < 4; i++) {
            waitsAndPassesOn();
        }
        // The lead is used up, and no time passes.
        world.advance(Duration.ofMillis(1));
        world.advance(Duration.ofMillis(1));
        long before = handOvers.get();
        link.forget();

        int milliseconds = 50;
        for (int i = 0; i < milliseconds; i++) {
            world.advance(Duration.ofMillis(1));
        }

        long tokens = milliseconds * TOKENS_OF_A_MILLISECOND;
        assertThat(handOvers.get() - before).isBetween(tokens * 9 / 10, tokens * 11 / 10);
        assertThat(link.sent(Command.Advance.class)).hasSizeBetween(milliseconds * 9 / 10, milliseconds * 11 / 10);
        assertThat(newest.get())
                .isLessThanOrEqualTo(Tokens.floor(world.time().unixMicros().getAsLong()) + lead());
    }

    private static long lead() {
        return Tokens.floor(Tokens.LEAD_MICROS + TimeUnit.MILLISECONDS.toMicros(1));
    }
}
