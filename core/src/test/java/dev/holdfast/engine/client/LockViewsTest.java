package dev.holdfast.engine.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.admin.LockInfo;
import dev.holdfast.engine.deadlock.WaitLine;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreTraits.TokenSource;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LockViewsTest {

    private static LockInfo.Holder holder(String annotation) {
        ClaimRef claim = new ClaimRef(new ResourceName("a"), new SessionId("s"), 1);
        return new LockViews(TokenSource.values()[0], () -> 0)
                .holder(new Party(
                        claim, "p", 1, Optional.empty(), Duration.ZERO, Duration.ZERO, Optional.empty(), annotation));
    }

    @Test
    void waitsThatAClientStatesAreThoseOfTheHolder() {
        String reader = new WaitLine(
                        -1, "b c\n%", WaitLine.Blocking.WRITERS, false, 7, "http-7 <b>", 3, 1_500, true, Set.of(4L, 5L))
                .format();
        String writer = new WaitLine(2, "d", WaitLine.Blocking.ALL_BEHIND_WRITER, true, 7, "t", 4, -1, false, Set.of())
                .format();
        LockInfo.Holder holder = holder("a message\n" + reader + "\n9 of another version\n" + writer);
        assertThat(holder.message()).isEqualTo("a message");
        assertThat(holder.waits())
                .containsExactly(
                        new LockInfo.Wait(
                                -1, "b c\n%", false, false, 7, "http-7 <b>", Duration.ofMillis(1_500), Set.of(4L, 5L)),
                        new LockInfo.Wait(2, "d", true, true, 7, "t", Duration.ZERO, Set.of()));
        assertThat(holder("only a message").waits()).isEmpty();
    }
}
