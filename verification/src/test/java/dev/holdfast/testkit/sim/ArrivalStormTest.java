package dev.holdfast.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.store.register.client.BrokenRegisterClients;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Clients that arrive at one name at the same moment, on a server that takes one request after another. All is virtual
 * time, so the counts are exact.
 */
class ArrivalStormTest {

    /** Far longer than any arrival takes. */
    private static final long LONGEST = Duration.ofSeconds(1).toNanos();

    private int answered;

    @ParameterizedTest
    @CsvSource({
        "1, 4000, 1, 3",
        "4, 4000, 3, 40",
        "16, 4000, 3.1, 60",
        "64, 4000, 3.1, 150",
        "256, 4000, 3.1, 400",
        // What a transaction of etcd may change.
        "64, 120, 3.1, 150",
        "256, 120, 3.1, 500",
    })
    @DisplayName("Clients that arrive at once need about three writes each until all stand in the queue")
    void storm(int clients, int changes, double writesEach, long millis) {
        RemoteRegister register = new RemoteRegister(1, changes, true);
        long took = arrive(register, clients, 0);
        assertThat(register.writes() / (double) clients).isLessThanOrEqualTo(writesEach);
        assertThat(took).isLessThanOrEqualTo(millis);
        assertThat(register.takenIn()).as("arrivals").isLessThan(clients);
    }

    @Test
    @DisplayName("The client of the first arrival may die: others take its place, and its claim in")
    void firstDies() {
        int clients = 16;
        RemoteRegister register = new RemoteRegister(1, 4_000, true);
        register.dropFirstAnnouncement();
        long took = arrive(register, clients, 1);
        assertThat(took).isLessThanOrEqualTo(200);
        assertThat(register.writes() / (double) clients).isLessThanOrEqualTo(5);
    }

    @Test
    @DisplayName("Clients that wait for the client of the first arrival for ever are never served if it has died")
    void firstDiesAmongBroken() {
        RemoteRegister register = new RemoteRegister(1, 4_000, true, BrokenRegisterClients.WAITS_FOR_FIRST_ARRIVAL);
        register.dropFirstAnnouncement();
        assertThatThrownBy(() -> arrive(register, 16, 1)).hasMessageContaining("answered");
    }

    /** Has clients arrive, and waits until all are answered but some that die; returns the milliseconds it took. */
    private long arrive(RemoteRegister register, int clients, int dying) {
        for (int i = 0; i < clients; i++) {
            register.open();
        }
        long began = register.world.now();
        for (int i = 0; i < clients; i++) {
            Command.Acquire claim = new Command.Acquire(
                    new ClaimRef(new ResourceName("hot"), register.sessions.get(i), 1),
                    0,
                    Command.Sending.FIRST,
                    ResourceSpec.MUTEX,
                    1,
                    Lease.SESSION,
                    Command.Waiting.QUEUE,
                    1);
            var unused = register.stores.get(i).execute(claim, CallerMode.ASYNC).whenComplete((reply, failure) -> {
                assertThat(failure).isNull();
                answered++;
            });
        }
        while (answered < clients - dying) {
            register.world.step();
            assertThat(register.world.now() - began).as("%d answered", answered).isLessThan(LONGEST);
        }
        long took = RemoteRegister.millis(register.world.now() - began);
        System.out.printf("%d clients: %.1f writes each, %d ms%n", clients, register.writes() / (double) clients, took);
        return took;
    }
}
