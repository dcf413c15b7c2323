package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.TokenBlock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A cohort")
class CohortStateTest {

    @Test
    @DisplayName("goes on after 2,147,483,647 tokens")
    void manyTokens() {
        CohortState cohort = new CohortState(false);
        cohort.used = Integer.MAX_VALUE - 1;

        cohort.use();
        cohort.use();

        assertThat(cohort.used).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    @DisplayName("asks whether others wait when its budget is spent, one question at a time")
    void asks() {
        CohortState cohort = new CohortState(false);
        assertThat(cohort.askIfDue(1_000, 0)).isFalse();
        cohort.begin(100);
        cohort.begin(900);
        assertThat(cohort.askIfDue(99, 0)).isFalse();
        assertThat(cohort.askIfDue(100, 0)).isTrue();
        assertThat(cohort.askIfDue(100, 0)).isFalse();

        cohort.askFailed();
        assertThat(cohort.askIfDue(100, 0)).isTrue();

        cohort.answer(false, 200);
        assertThat(cohort.askIfDue(199, 0)).isFalse();
        assertThat(cohort.askIfDue(200, 0)).isTrue();

        cohort.answer(true, 300);
        assertThat(cohort.askIfDue(300, 0)).isFalse();
    }

    @Test
    @DisplayName("gets no more tokens once the store has no more, whatever it says then")
    void lastTokens() {
        CohortState cohort = new CohortState(false);
        cohort.ask(32, 0);
        assertThat(cohort.isAdvancing()).isTrue();
        cohort.endAdvance(false);
        assertThat(cohort.isLast()).isFalse();

        cohort.ask(32, 0);
        cohort.endAdvance(true);
        assertThat(cohort.isAdvancing()).isFalse();
        assertThat(cohort.isLast()).isTrue();

        cohort.endAdvance(false);
        assertThat(cohort.isLast()).isTrue();
    }

    @Test
    @DisplayName("has a budget that begins once, and is spent only while others wait")
    void budget() {
        CohortState cohort = new CohortState(true);
        assertThat(cohort.hasBegun()).isFalse();
        assertThat(cohort.endsWithin(1_000, 1_000)).isFalse();

        cohort.begin(100);
        cohort.begin(50);
        assertThat(cohort.hasBegun()).isTrue();
        assertThat(cohort.isAwaited()).isTrue();
        assertThat(cohort.endsWithin(0, 99)).isFalse();
        assertThat(cohort.endsWithin(0, 100)).isTrue();
        assertThat(cohort.endsWithin(30, 69)).isFalse();
        assertThat(cohort.endsWithin(30, 70)).isTrue();

        cohort.answer(false, 300);
        assertThat(cohort.isAwaited()).isFalse();
        assertThat(cohort.endsWithin(0, 400)).isFalse();
        cohort.answer(true, 500);
        assertThat(cohort.endsWithin(0, 299)).isFalse();
        assertThat(cohort.endsWithin(0, 300)).isTrue();
    }

    @Test
    @DisplayName("asks whether others wait before its budget is spent, so that the answer is in time")
    void asksInTime() {
        CohortState cohort = new CohortState(false);
        cohort.begin(100);
        assertThat(cohort.askIfDue(69, 30)).isFalse();
        assertThat(cohort.askIfDue(70, 30)).isTrue();
    }

    @Test
    @DisplayName("asks for scarce tokens once an interval, and for others at once")
    void scarceTokens() {
        CohortState cohort = new CohortState(false);
        assertThat(cohort.pauseNanos(0, 50)).isZero();
        cohort.ask(32, 1_000);
        cohort.got(32, true);
        assertThat(cohort.isAwaited()).isTrue();
        assertThat(cohort.pauseNanos(1_010, 50)).isZero();

        cohort.ask(32, 2_000);
        cohort.got(31, false);
        assertThat(cohort.isAwaited()).isFalse();
        assertThat(cohort.pauseNanos(2_010, 50)).isEqualTo(40);
        assertThat(cohort.pauseNanos(2_060, 50)).isZero();
    }

    @Test
    @DisplayName("asks for twice the tokens it has used, at least 32 and at most the largest block")
    void blocks() {
        assertThat(CohortState.blockAfter(0)).isEqualTo(32);
        assertThat(CohortState.blockAfter(16)).isEqualTo(32);
        assertThat(CohortState.blockAfter(17)).isEqualTo(34);
        assertThat(CohortState.blockAfter(Integer.MAX_VALUE)).isEqualTo(TokenBlock.MAX_SIZE);
    }
}
