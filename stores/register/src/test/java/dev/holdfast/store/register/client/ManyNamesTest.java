package dev.holdfast.store.register.client;

import static dev.holdfast.store.register.Commands.answer;
import static dev.holdfast.store.register.Commands.mutex;
import static dev.holdfast.store.register.Commands.open;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A client that uses 10,000 names in turn. */
class ManyNamesTest {

    private static final int NAMES = 10_000;

    /** Guesses before the client peeks, and peeks before it guesses again. */
    private static final int FEW = 10;

    private final MemoryRegister server = new MemoryRegister(RegisterTraits.Clock.WALL, () -> 1_750_000_000_000_000L);
    private final RegisterStore store = RegisterStore.over(server.connect());
    private final SessionId session = open(store, Duration.ofMinutes(10));
    private long claims;

    @AfterEach
    void close() {
        store.close();
    }

    /** Acquires and releases each name; returns the number of requests. */
    private long requestsForAll(String prefix) {
        long before = server.requests();
        for (int i = 0; i < NAMES; i++) {
            ClaimRef claim = new ClaimRef(new ResourceName(prefix + i), session, ++claims);
            assertThat(answer(store, mutex(claim, Waiting.QUEUE))).isInstanceOf(Reply.Granted.class);
            assertThat(answer(store, new Command.Release(claim))).isEqualTo(new Reply.Released());
        }
        return server.requests() - before;
    }

    @Test
    @DisplayName("remembers their records")
    void remembersRecords() {
        assertThat(requestsForAll("order/")).isEqualTo(2L * NAMES);
        assertThat(requestsForAll("order/")).isEqualTo(2L * NAMES);
    }

    @Test
    @DisplayName("peeks at records that it has forgotten, instead of writing on wrong guesses")
    void peeksAtForgottenRecords() {
        String longPrefix = "x".repeat(480);
        assertThat(requestsForAll(longPrefix)).isEqualTo(2L * NAMES);
        assertThat(requestsForAll(longPrefix)).isBetween(2L * NAMES + 1, 3L * NAMES + FEW);
        assertThat(server.refusals()).isBetween(1L, (long) FEW);
        assertThat(requestsForAll("new/")).isBetween(2L * NAMES, 2L * NAMES + FEW);
    }
}
