package dev.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import java.time.Duration;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What no store could make sense of is refused when the command is made. */
class CommandTest {

    private static final ResourceName NAME = new ResourceName("ledger");
    private static final SessionId SESSION = new SessionId("s");
    private static final ClaimRef CLAIM = new ClaimRef(NAME, SESSION, 1);
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration TOO_LONG = Command.MAX_DURATION.plusNanos(1);

    @Test
    void durationsArePositiveAndAtMostAHundredYears() {
        for (Duration bad : new Duration[] {Duration.ZERO, Duration.ofNanos(-1), TOO_LONG}) {
            refused(() -> new Command.OpenSession(bad, ""));
            refused(() -> new Command.Extend(CLAIM, 1, bad));
        }
        refused(() -> acquire(ResourceSpec.MUTEX, 1, Lease.bounded(TOO_LONG), 1));
        for (Duration good : new Duration[] {Duration.ofNanos(1), Command.MAX_DURATION}) {
            accepted(() -> new Command.OpenSession(good, ""));
            accepted(() -> new Command.Extend(CLAIM, 1, good));
            accepted(() -> acquire(ResourceSpec.MUTEX, 1, Lease.detached(good), 1));
        }
    }

    @Test
    void labelsAreAtMost256BytesOfUtf8() {
        accepted(() -> new Command.OpenSession(SECOND, "é".repeat(128)));
        refused(() -> new Command.OpenSession(SECOND, "é".repeat(128) + "x"));
    }

    @Test
    void weightsSuitTheDeclaration() {
        ResourceSpec four = new ResourceSpec(Kind.SEMAPHORE, 4, Order.FAIR);
        ResourceSpec latch = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);
        accepted(() -> acquire(four, 4, Lease.SESSION, 1));
        refused(() -> acquire(four, 5, Lease.SESSION, 1));
        refused(() -> acquire(four, 0, Lease.SESSION, 1));
        accepted(() -> acquire(latch, 0, Lease.SESSION, 1));
        refused(() -> acquire(latch, 1, Lease.SESSION, 1));
        refused(() -> new Command.ShrinkTo(CLAIM, 0));
        refused(() -> new Command.Resize(NAME, SESSION, 0, 0));
    }

    @Test
    void capacitiesSuitTheKind() {
        refused(() -> new ResourceSpec(Kind.MUTEX, 2, Order.FAIR));
        refused(() -> new ResourceSpec(Kind.READ_WRITE, 2, Order.FAIR));
        refused(() -> new ResourceSpec(Kind.SEMAPHORE, 0, Order.FAIR));
        refused(() -> new ResourceSpec(Kind.LATCH, 1, Order.BARGING));
        accepted(() -> new ResourceSpec(Kind.MUTEX, 1, Order.BARGING));
    }

    @Test
    void blocksAreOneToTheLargest() {
        for (int bad : new int[] {0, -1, TokenBlock.MAX_SIZE + 1}) {
            refused(() -> acquire(ResourceSpec.MUTEX, 1, Lease.SESSION, bad));
            refused(() -> new Command.Advance(CLAIM, 1, bad, 0));
        }
        accepted(() -> acquire(ResourceSpec.MUTEX, 1, Lease.SESSION, TokenBlock.MAX_SIZE));
        accepted(() -> new Command.Advance(CLAIM, 1, TokenBlock.MAX_SIZE, 0));
    }

    @Test
    void yieldIsForAnotherClaimOfTheSameSessionThatWaits() {
        Acquire next = acquire(new ClaimRef(NAME, SESSION, 2), Waiting.QUEUE);
        accepted(() -> new Command.Yield(CLAIM, next));
        refused(() -> new Command.Yield(CLAIM, acquire(CLAIM, Waiting.QUEUE)));
        refused(() -> new Command.Yield(CLAIM, acquire(new ClaimRef(NAME, SESSION, 2), Waiting.TRY)));
        refused(() -> new Command.Yield(CLAIM, acquire(new ClaimRef(NAME, new SessionId("t"), 2), Waiting.QUEUE)));
        refused(() ->
                new Command.Yield(CLAIM, acquire(new ClaimRef(new ResourceName("other"), SESSION, 2), Waiting.QUEUE)));
    }

    @Test
    void countsAreNeverBelowOne() {
        refused(() -> new Command.SetCount(NAME, SESSION, 0, 0, 1));
        refused(() -> new Command.SetCount(NAME, SESSION, 0, 1, 0));
        refused(() -> new Command.CountDown(NAME, 1, "id", 0));
        refused(() -> new Command.Extend(CLAIM, 0, SECOND));
        refused(() -> new Command.Inspect("", Optional.empty(), 0));
        refused(() -> new Command.Audit(SESSION, Optional.empty(), 0));
        refused(() -> new ClaimRef(NAME, SESSION, 0));
    }

    @Test
    void idsAreShortAndPrintable() {
        for (String bad : new String[] {"", " ", "a b", "é", "\u007f", "x".repeat(65)}) {
            refused(() -> new Command.CountDown(NAME, 1, bad, 1));
        }
        accepted(() -> new Command.CountDown(NAME, 1, "!" + "x".repeat(62) + "~", 1));
    }

    private static Acquire acquire(ResourceSpec spec, int weight, Lease lease, int tokens) {
        return new Acquire(CLAIM, 0, Sending.FIRST, spec, weight, lease, Waiting.QUEUE, tokens);
    }

    private static Acquire acquire(ClaimRef claim, Waiting waiting) {
        return new Acquire(claim, 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, waiting, 1);
    }

    private static void refused(ThrowingCallable making) {
        assertThatThrownBy(making).isInstanceOf(IllegalArgumentException.class).hasMessageMatching("(?s).{10,}");
    }

    private static void accepted(ThrowingCallable making) {
        assertThatCode(making).doesNotThrowAnyException();
    }
}
