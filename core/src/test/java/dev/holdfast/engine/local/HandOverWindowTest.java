package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.client.SafetyRules;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The window of a strict grant")
class HandOverWindowTest {

    private static final long MICRO = 1_000;

    private final HandOverWindow window = new HandOverWindow();

    private boolean isOpen(long micros) {
        return window.isOpen(micros * MICRO, new SafetyRules());
    }

    /** A question is sent and answered. */
    private void answer(boolean isAwaited, long sentAt, long answeredAt) {
        window.answer(isAwaited, sentAt * MICRO, answeredAt * MICRO);
    }

    @Test
    @DisplayName("is closed before the first answer, and after one that others wait")
    void closed() {
        assertThat(isOpen(0)).isFalse();
        answer(false, 0, 10);
        assertThat(isOpen(10)).isTrue();
        answer(true, 20, 30);
        assertThat(isOpen(30)).isFalse();
    }

    @Test
    @DisplayName("ends one and a half round trips after the question was sent, and 400 us at the earliest")
    void length() {
        answer(false, 0, 10);
        assertThat(isOpen(399)).isTrue();
        assertThat(isOpen(400)).isFalse();

        HandOverWindow slow = new HandOverWindow();
        slow.answer(false, 0, 2_000 * MICRO);
        assertThat(slow.isOpen(2_999 * MICRO, new SafetyRules())).isTrue();
        assertThat(slow.isOpen(3_000 * MICRO, new SafetyRules())).isFalse();
    }

    @Test
    @DisplayName("is open for a moment after an answer that took longer than usual")
    void slowAnswer() {
        answer(false, 0, 400);
        answer(false, 1_000, 11_000);
        assertThat(isOpen(11_099)).isTrue();
        assertThat(isOpen(11_100)).isFalse();
    }

    @Test
    @DisplayName("is three times the last round trip at most, however long those before it were")
    void fastAnswer() {
        answer(false, 0, 10_000);
        answer(false, 20_000, 20_500);
        assertThat(isOpen(21_499)).isTrue();
        assertThat(isOpen(21_500)).isFalse();
    }

    @Test
    @DisplayName("does not depend on an answer that is overtaken by one to a later question")
    void overtaken() {
        answer(true, 100, 200);
        answer(false, 50, 300);
        assertThat(isOpen(300)).isFalse();
    }

    @Test
    @DisplayName("has two questions in flight at most, half a round trip apart; a hand-over asks if there are none")
    void questions() {
        assertThat(window.askInTime(0)).isTrue();
        assertThat(window.askInTime(99 * MICRO)).isFalse();
        assertThat(window.askNow(99 * MICRO)).isFalse();
        assertThat(window.askInTime(100 * MICRO)).isTrue();
        assertThat(window.askInTime(900 * MICRO)).isFalse();
        answer(false, 0, 1_000);
        assertThat(window.askInTime(1_000 * MICRO)).isTrue();
        window.fail();
        assertThat(window.askInTime(1_499 * MICRO)).isFalse();
        assertThat(window.askInTime(1_500 * MICRO)).isTrue();
        window.fail();
        window.fail();
        window.fail();
        assertThat(window.askNow(1_500 * MICRO)).isTrue();
    }

    @Test
    @DisplayName("counts the later of two answers to questions that were sent at the same time")
    void sentTogether() {
        answer(false, 100, 200);
        answer(true, 100, 210);
        assertThat(isOpen(300)).isFalse();
    }

    @Test
    @DisplayName("follows the average round trip, an eighth of the way with each answer")
    void average() {
        answer(false, 0, 800);
        answer(false, 1_000, 3_400);
        // The average is 1 ms now: one and a half of it are less than the answer took.
        assertThat(isOpen(3_499)).isTrue();
        assertThat(isOpen(3_500)).isFalse();
        answer(false, 5_000, 6_000);
        assertThat(isOpen(6_499)).isTrue();
        assertThat(isOpen(6_500)).isFalse();
        // Questions are half of it apart.
        assertThat(window.askInTime(10_000 * MICRO)).isTrue();
        assertThat(window.askInTime(10_499 * MICRO)).isFalse();
        assertThat(window.askInTime(10_500 * MICRO)).isTrue();
    }
}
