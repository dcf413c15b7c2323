package dev.holdfast.store.register.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.Arrival;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A notice of an announced claim")
class ArrivalNoticesTest {

    private static final long SECOND = 1_000_000_000;

    private final ArrivalNotices notices = new ArrivalNotices();

    private static Arrival arrival(String session, long number) {
        return new Arrival(new ClaimRef(new ResourceName("crowd"), new SessionId(session), number), 0, new byte[] {1});
    }

    @Test
    @DisplayName("replaces those of older claims of its session, as far as these no longer wait")
    void olderClaims() {
        Arrival other = arrival("other", 1);
        Arrival second = arrival("one", 2);
        Arrival third = arrival("one", 3);
        notices.add(other, 1, 0);
        notices.add(arrival("one", 1), 1, 0);
        notices.add(second, 1, 0);
        notices.add(third, 2, 0);
        assertThat(notices.present(0)).containsExactly(other, second, third);
    }

    @Test
    @DisplayName("lasts for a second")
    void lifetime() {
        assertThat(notices.areRecent(0)).isFalse();
        Arrival first = arrival("one", 1);
        notices.add(first, 1, 7);
        assertThat(notices.present(7 + SECOND)).containsExactly(first);
        assertThat(notices.areRecent(6 + SECOND)).isTrue();
        assertThat(notices.areRecent(7 + SECOND)).isFalse();
        assertThat(notices.present(8 + SECOND)).isEmpty();
    }

    @Test
    @DisplayName("is ignored if there are many, but makes room when they have become old")
    void many() {
        for (int i = 1; i <= 65; i++) {
            notices.add(arrival("session-" + i, 1), 1, 0);
        }
        assertThat(notices.present(0)).hasSize(64).doesNotContain(arrival("session-65", 1));
        notices.add(arrival("late", 1), 1, SECOND + 1);
        assertThat(notices.present(SECOND + 1))
                .extracting(Arrival::claim)
                .containsExactly(arrival("late", 1).claim());
    }

    @Test
    @DisplayName("is dropped with the claim, and only then")
    void dropped() {
        Arrival one = arrival("one", 1);
        Arrival other = arrival("other", 1);
        notices.add(one, 1, 0);
        notices.add(other, 1, 0);
        assertThat(notices.drop(List.of(arrival("one", 2)))).isFalse();
        assertThat(notices.drop(List.of(one, arrival("one", 2)))).isTrue();
        assertThat(notices.present(0)).containsExactly(other);
    }
}
