package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Which claims of one resource no request wants, and how they are withdrawn. */
@DisplayName("The claims of a resource")
class UnwantedClaimsTest extends ClaimsFixture {

    @Test
    @DisplayName("that no request wants are withdrawn once, when the store has said what became of them")
    void unwanted() {
        Sent granted = ask(request(alice));
        assertThat(dropUnwanted()).isTrue();
        assertThat(dropUnwanted()).isFalse();
        assertThat(claims.isNone()).isTrue();
        assertThat(withdrawals()).isEmpty();
        granted.answer(GRANTED);
        assertThat(grants.isEmpty()).isTrue();
        assertThat(withdrawals())
                .containsExactly(new Command.Withdraw(granted.claim().ref(), Sending.FIRST));
        grants.resource().step(deferred -> claims.withdraw(granted.claim(), deferred));
        assertThat(withdrawals()).hasSize(1);

        link.forget();
        Sent queued = ask(request(alice));
        assertThat(dropUnwanted()).isTrue();
        queued.answer(QUEUED);
        assertThat(queued.claim().isQueued()).isFalse();
        assertThat(withdrawals())
                .containsExactly(new Command.Withdraw(queued.claim().ref(), Sending.FIRST));
    }

    @Test
    @DisplayName("are wanted by any request that they serve, and by the first alone where weights differ")
    void wanted() {
        assertThat(claims.isWanted(queue)).isTrue();
        queue.append(request(Mode.FAIR_MUTEX, bob, AcquireTerms.attempt(OWN_LEASE)));
        assertThat(claims.isWanted(queue)).isTrue();
        ask(request(alice));
        assertThat(claims.isWanted(queue)).isFalse();
        queue.append(request(bob));
        assertThat(claims.isWanted(queue)).isTrue();

        use(SEATS);
        RequestQueue seats = new RequestQueue();
        ask(seats(3));
        assertThat(claims.isWanted(seats)).isFalse();
        Request heavier = seats(4);
        seats.append(heavier);
        seats.append(seats(3));
        assertThat(claims.isWanted(seats)).isFalse();
        seats.remove(heavier);
        assertThat(claims.isWanted(seats)).isTrue();

        use(READ_WRITE);
        RequestQueue readers = new RequestQueue();
        readers.append(reader(alice));
        ask(request(bob));
        assertThat(claims.isWanted(readers)).isFalse();
    }

    @Test
    @DisplayName("for a single request are wanted while it waits, wherever it stands")
    void wantedByOne() {
        Request apart = request(Mode.FAIR_MUTEX, bob, AcquireTerms.attempt(OWN_LEASE));
        queue.append(request(alice));
        queue.append(apart);
        ask(apart);
        assertThat(claims.isWanted(queue)).isTrue();
        assertThat(dropUnwanted()).isFalse();
        queue.remove(apart);
        assertThat(claims.isWanted(queue)).isFalse();
        assertThat(dropUnwanted()).isTrue();
    }

    @Test
    @DisplayName("for passes are wanted by requests that waited when they were made, and by no later ones")
    void wantedByPasses() {
        use(LATCH);
        Request first = request(Mode.unowned(LATCH, 0), null, AcquireTerms.FOREVER);
        queue.append(first);
        ask(first);
        queue.append(request(Mode.unowned(LATCH, 0), null, AcquireTerms.FOREVER));
        assertThat(claims.isWanted(queue)).isTrue();
        queue.remove(first);
        assertThat(claims.isWanted(queue)).isFalse();
    }

    @Test
    @DisplayName("that no request wants are not withdrawn if they certainly never reached the store")
    void neverMade() {
        Sent sent = ask(request(alice));
        assertThat(dropUnwanted()).isTrue();
        sent.command().fail(Reason.UNAVAILABLE, Effect.NONE);
        assertThat(withdrawals()).isEmpty();

        Sent unclear = ask(request(alice));
        assertThat(dropUnwanted()).isTrue();
        unclear.command().fail(Reason.UNAVAILABLE, Effect.UNKNOWN);
        world.advance(Duration.ofSeconds(10));
        assertThat(withdrawals())
                .containsExactly(new Command.Withdraw(unclear.claim().ref(), Sending.REPEAT));
    }
}
