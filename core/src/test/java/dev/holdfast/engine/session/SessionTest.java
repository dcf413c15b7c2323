package dev.holdfast.engine.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.session.Session.State;
import dev.holdfast.spi.SessionId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A session")
class SessionTest {

    private static final long TTL = 100;

    /** Opened at 1000 with a margin of 10. */
    private final Session session = new Session(new SessionId("s"), TTL, 1_000, 1_090, 0);

    private final List<String> done = new ArrayList<>();

    @Test
    @DisplayName("keeps the latest deadline and the highest epoch when one acknowledgement overtakes another")
    void acknowledged() {
        assertThat(session.beginKeepAlive(1_020)).isZero();
        session.acknowledge(1_020, 1_110, 3, 1);
        session.acknowledge(1_010, 1_100, 2, 0);

        assertThat(session.deadline()).isEqualTo(1_110);
        assertThat(session.leftNanos(1_100)).isEqualTo(10);
        assertThat(session.epoch()).isEqualTo(3);
        assertThat(session.sinceAcknowledged(1_050)).isEqualTo(30);
        assertThat(session.sinceKeepAlive(1_050)).isEqualTo(30);
        assertThat(session.inDoubt(1)).isFalse();
        assertThat(session.inDoubt(2)).isTrue();
    }

    @Test
    @DisplayName("is over at the store twice the ttl after the last keep-alive that was sent, answered or not")
    void overByNow() {
        assertThat(session.goneAt()).isEqualTo(1_200);
        session.beginKeepAlive(1_050);
        assertThat(session.goneAt()).isEqualTo(1_250);
        assertThat(session.isOverByNow(1_250)).isFalse();
        assertThat(session.isOverByNow(1_251)).isTrue();
        session.end(State.ENDED);
        assertThat(session.isOverByNow(1_060)).isTrue();
    }

    @Test
    @DisplayName("that was abandoned has ended at the store a ttl after its deadline")
    void endedAtStore() {
        assertThat(session.hasEndedAtStore(5_000)).isFalse();
        session.end(State.ABANDONED);
        assertThat(session.isAlive()).isFalse();
        assertThat(session.state()).isEqualTo(State.ABANDONED);
        assertThat(session.hasEndedAtStore(1_190)).isFalse();
        assertThat(session.hasEndedAtStore(1_191)).isTrue();
        assertThat(session.isOverByNow(1_190)).isFalse();

        session.end(State.ENDED);
        assertThat(session.hasEndedAtStore(1_000)).isTrue();
    }

    @Test
    @DisplayName("runs what waits for an epoch above a command of unknown outcome, once the store has acknowledged it")
    void raises() {
        session.addRaise(0, () -> done.add("first"));
        session.addRaise(4, () -> done.add("second"));
        assertThat(session.isAwaitingRaise()).isTrue();
        assertThat(session.isRaising(0)).isFalse();
        assertThat(session.beginKeepAlive(1_010)).isEqualTo(5);
        assertThat(session.isRaising(4)).isTrue();
        assertThat(session.isRaising(5)).isFalse();
        session.keepAliveFailed();
        assertThat(session.isRaising(0)).isFalse();

        session.acknowledge(1_010, 1_100, 4, 0);
        session.takeRaised().run();
        assertThat(done).containsExactly("first");
        assertThat(session.beginKeepAlive(1_020)).isEqualTo(5);
        session.acknowledge(1_020, 1_110, 5, 0);
        session.takeRaised().run();
        assertThat(done).containsExactly("first", "second");
        assertThat(session.isAwaitingRaise()).isFalse();
        session.acknowledge(1_030, 1_120, 7, 0);
        assertThat(session.beginKeepAlive(1_040)).isEqualTo(7);
    }

    @Test
    @DisplayName("runs all actions that wait for an epoch when it ends")
    void raisesAtTheEnd() {
        session.addRaise(4, () -> done.add("waited"));
        session.takeRaised().run();
        assertThat(done).isEmpty();
        session.end(State.ENDED);
        session.takeRaised().run();
        assertThat(done).containsExactly("waited");
    }

    @Test
    @DisplayName("reports each doubt once until it is settled, and asks once about each step of the clock")
    void doubt() {
        assertThat(session.endDoubt()).isFalse();
        assertThat(session.beginDoubt()).isTrue();
        assertThat(session.beginDoubt()).isFalse();
        assertThat(session.endDoubt()).isTrue();
        assertThat(session.beginDoubt()).isTrue();
        assertThat(session.askOnce(1)).isTrue();
        assertThat(session.askOnce(1)).isFalse();
        assertThat(session.askOnce(2)).isTrue();

        assertThat(session.endDoubt()).isTrue();
        session.end(State.ABANDONED);
        assertThat(session.beginDoubt()).isFalse();
        assertThat(session.endDoubt()).isFalse();
    }

    @Test
    @DisplayName("runs the actions that wait for its retirement, and later ones at once")
    void retirement() {
        session.afterRetirement(() -> done.add("before"));
        assertThat(done).isEmpty();
        session.retired();
        session.afterRetirement(() -> done.add("after"));
        assertThat(done).containsExactly("before", "after");
    }
}
