package dev.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.report.Results;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("What a measurement checks")
class ChecksTest {

    private final Measurements measurements = new Measurements();
    private final Guarded guarded = Guarded.inMemory();

    @Test
    @DisplayName("passes a lock that works")
    void acceptsOwnersOneAfterAnother() {
        pass(1);
        pass(2);
        guarded.check(2, measurements);
        assertThat(measurements.violations()).isEmpty();
    }

    @Test
    @DisplayName("finds an owner that meets another one inside")
    void findsMeetings() {
        guarded.enter(1);
        guarded.enter(2);
        guarded.leave();
        guarded.leave();
        guarded.check(2, measurements);
        assertThat(measurements.violations()).containsExactly("1 owners met another one inside, in passes: 2");
    }

    @Test
    @DisplayName("finds a counter that two owners have torn")
    void findsLostCounts() {
        pass(1);
        guarded.check(2, measurements);
        assertThat(measurements.violations()).containsExactly("1 passes were counted under the lock, of 2");
    }

    @Test
    @DisplayName("finds a token that does not rise")
    void findsStaleTokens() {
        pass(7);
        pass(7);
        guarded.check(2, measurements);
        assertThat(measurements.violations()).containsExactly("1 tokens were not above the one before, in passes: 2");
    }

    @Test
    @DisplayName("sees owners of other processes")
    void isSharedThroughAFile(@TempDir Path place) {
        Guarded here = Guarded.inFile(place);
        here.enter(3);
        Guarded there = Guarded.inFile(place);
        there.enter(3);
        here.check(0, measurements);
        assertThat(measurements.violations()).hasSize(2);
    }

    @Test
    @DisplayName("comes back from the JVM that measured, and makes the run fail")
    void isReadBack() {
        pass(7);
        pass(6);
        guarded.check(2, measurements);
        measurements.put("pairs/s", 12.5);
        Measurements copy = new Measurements();
        copy.read(measurements.lines());
        Results results = new Results();
        results.add(Workloads.ALL.get(0), new Figure.Round(Map.of("cell", copy)));
        assertThat(copy.get("pairs/s")).isEqualTo(12.5);
        assertThat(results.violations())
                .containsExactly(
                        Workloads.ALL.get(0).id() + "/cell: 1 tokens were not above the one before, in passes: 2");
    }

    @Test
    @DisplayName("judges the median")
    void judgesTheMedian() {
        Figure figure = Figure.of("cell", "pairs", Unit.PER_SECOND, "pairs/s").atLeast(20);
        assertThat(figure.sorted(List.of(round(10), round(40), round(20)))).containsExactly(10, 20, 40);
        assertThat(figure.goal()).hasValueSatisfying(goal -> {
            assertThat(goal.isReached(20)).isTrue();
            assertThat(goal.isReached(19.9)).isFalse();
        });
        assertThat(figure.atMost(20).goal()).hasValueSatisfying(goal -> {
            assertThat(goal.isReached(20)).isTrue();
            assertThat(goal.isReached(20.1)).isFalse();
        });
    }

    private static Figure.Round round(double pairs) {
        Measurements measurements = new Measurements();
        measurements.put("pairs/s", pairs);
        return new Figure.Round(Map.of("cell", measurements));
    }

    private void pass(long token) {
        guarded.enter(token);
        guarded.leave();
    }
}
