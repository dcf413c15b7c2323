package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A cohort")
class CohortStateTest {

    @Test
    @DisplayName("goes on after 2,147,483,647 tokens")
    void manyTokens() {
        CohortState cohort = new CohortState(0, false);
        cohort.used = Integer.MAX_VALUE - 1;

        cohort.use();
        cohort.use();

        assertThat(cohort.used).isEqualTo(Integer.MAX_VALUE);
    }
}
