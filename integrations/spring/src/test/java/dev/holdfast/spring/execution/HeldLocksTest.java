package dev.holdfast.spring.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.MultiHold;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Locks in hand")
class HeldLocksTest {

    private final Holdfast client = Holdfast.connect("memory:");

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    @DisplayName("have the names that were asked for, whatever the client puts before them")
    void namesWithoutPrefix() {
        try (MultiHold hold =
                client.lockAll("orders:9", "orders:7").tryAcquire().orElseThrow()) {
            HeldLocks held = HeldLocks.of(hold, List.of("9", "7"));
            assertThat(held.names()).containsExactly("7", "9");
            assertThat(held.fencingToken("7")).isEqualTo(hold.fencingToken("orders:7"));
            assertThat(held.fencingToken("9")).isEqualTo(hold.fencingToken("orders:9"));
            assertThatThrownBy(() -> held.fencingToken("orders:7")).isInstanceOf(IllegalArgumentException.class);
            assertThat(held.holdId("7")).isEqualTo(hold.holdId("orders:7"));
            assertThat(held.single()).isEmpty();
            held.failIfLost();
        }
    }

    @Test
    @DisplayName("have the names of the store where the client puts nothing before them")
    void namesAsTheyAre() {
        try (MultiHold hold =
                client.lockAll("é", "z", "\uD83D\uDD12").tryAcquire().orElseThrow()) {
            HeldLocks held = HeldLocks.of(hold, List.of("\uD83D\uDD12", "é", "z"));
            assertThat(held.names()).isEqualTo(hold.names());
        }
    }
}
