package dev.holdfast.benchmarks.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The JVM of a cell")
class JvmTest {

    /** A peer that never ends. */
    static final class Endless {
        public static void main(String[] args) throws InterruptedException {
            new CountDownLatch(1).await();
        }
    }

    @Test
    @DisplayName("is ended if it does not come to an end")
    void isEndedInTheEnd() throws Exception {
        Jvm jvm = Jvm.start(Jvm.Purpose.TRIAL, Endless.class, List.of());
        assertThatThrownBy(() -> jvm.lines(Duration.ofMillis(200)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("no end within");
        assertThat(jvm.isAlive()).isFalse();
    }
}
