package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

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

        cohort.endAdvance(true);
        assertThat(cohort.isAdvancing()).isFalse();
        assertThat(cohort.isLast()).isTrue();

        cohort.endAdvance(false);
        assertThat(cohort.isLast()).isTrue();
    }
}
