package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ResourceName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Announced claims, which wait next to a record. */
abstract class ArrivalRules extends AdapterHarness {

    private static final int MANY = 20;

    private static Arrival arrival(ResourceName name, OpenedSession session, long number, long epoch) {
        return new Arrival(claim(name, session, number), epoch, bytes("request " + number));
    }

    /** What waits, as text. */
    private List<String> waiting(RegisterAdapter adapter, ResourceName name) {
        return answer(adapter.arrivals(name)).waiting().stream()
                .map(arrival -> arrival + ": " + text(arrival.request()))
                .toList();
    }

    private static String told(Arrival arrival) {
        return arrival + ": " + text(arrival.request());
    }

    @Test
    @DisplayName("what was announced is seen through any connection, with the record, and beside no other")
    void announcing() {
        ResourceName name = named("a name/with ~ and %");
        OpenedSession session = session(alice);
        Arrival arrival = arrival(name, session, 7, 0);
        assertThat(answer(alice.announce(arrival, Map.of()))).contains(0L);
        assertThat(waiting(bob, name)).containsExactly(told(arrival));
        RecordVersion version = written(bob, put(name, present(name), "state"));
        Arrivals seen = answer(alice.arrivals(name));
        assertThat(seen.waiting()).hasSize(1);
        assertThat(seen.record().version()).isEqualTo(version);
        assertThat(waiting(bob, named("a name"))).isEmpty();
        assertThat(waiting(bob, named("a name/with ~ and %25"))).isEmpty();
    }

    @Test
    @DisplayName("all that arrive at once are there, in one order for all")
    void arrivingAtOnce() {
        ResourceName name = named("storm");
        OpenedSession hers = session(alice);
        OpenedSession his = session(bob);
        List<CompletableFuture<?>> announced = new ArrayList<>();
        for (int i = 1; i <= MANY; i++) {
            announced.add(alice.announce(arrival(name, hers, i, 0), Map.of()).toCompletableFuture());
            announced.add(bob.announce(arrival(name, his, i, 0), Map.of()).toCompletableFuture());
        }
        announced.forEach(stage -> answer(stage));
        List<String> seen = waiting(alice, name);
        assertThat(seen).hasSize(2 * MANY).doesNotHaveDuplicates();
        assertThat(waiting(bob, name)).isEqualTo(seen);
    }

    @Test
    @DisplayName("one write takes in many, and it is one step with the record")
    void takingIn() {
        ResourceName name = named("taken in");
        OpenedSession hers = session(alice);
        OpenedSession his = session(bob);
        Arrival first = arrival(name, hers, 1, 0);
        Arrival second = arrival(name, his, 1, 0);
        answer(alice.announce(first, Map.of()));
        answer(bob.announce(second, Map.of()));
        written(alice, takingIn(put(name, present(name), "both"), first, second));
        assertThat(waiting(bob, name)).isEmpty();
        assertThat(text(name)).isEqualTo("both");
    }

    @Test
    @DisplayName("a write that takes in what is no longer there is a conflict and does nothing")
    void takenInOnce() {
        ResourceName name = named("once");
        OpenedSession session = session(alice);
        Arrival first = arrival(name, session, 1, 0);
        Arrival second = arrival(name, session, 2, 0);
        answer(alice.announce(first, Map.of()));
        answer(alice.announce(second, Map.of()));
        RecordVersion version = written(bob, takingIn(put(name, present(name), "one"), first));
        expectConflict(answer(alice.write(takingIn(put(name, version, "again"), second, first))));
        assertThat(waiting(bob, name)).containsExactly(told(second));
        assertThat(text(name)).isEqualTo("one");
        assertThat(present(name)).isEqualTo(version);
    }

    @Test
    @DisplayName("a write that fails for another reason takes nothing in")
    void conflictsTakeNothingIn() {
        ResourceName name = named("conflict");
        OpenedSession session = session(alice);
        Arrival arrival = arrival(name, session, 1, 0);
        answer(alice.announce(arrival, Map.of()));
        RecordVersion none = present(name);
        written(bob, put(name, none, "there"));
        expectConflict(answer(alice.write(takingIn(put(name, none, "late"), arrival))));
        assertThat(waiting(alice, name)).containsExactly(told(arrival));
    }

    @Test
    @DisplayName("a deletion takes in too, and one of a record that is not there")
    void takingInWithADeletion() {
        ResourceName name = named("deleted");
        OpenedSession session = session(alice);
        Arrival first = arrival(name, session, 1, 0);
        Arrival second = arrival(name, session, 2, 0);
        answer(alice.announce(first, Map.of()));
        answer(alice.announce(second, Map.of()));
        RecordVersion version = written(bob, put(name, present(name), "there"));
        written(bob, takingIn(delete(name, version, 0), first));
        written(bob, takingIn(delete(name, present(name), 0), second));
        assertThat(waiting(alice, name)).isEmpty();
        assertThat(text(name)).isEqualTo("(none)");
    }

    @Test
    @DisplayName("an arrival under an epoch below that of its session is not put")
    void staleArrivals() {
        ResourceName name = named("stale");
        OpenedSession session = session(alice);
        assertThat(answer(bob.raiseEpoch(session.id(), 5))).contains(5L);
        assertThat(answer(alice.announce(arrival(name, session, 1, 4), Map.of())))
                .contains(5L);
        assertThat(waiting(alice, name)).isEmpty();
        assertThat(answer(alice.announce(arrival(name, session, 1, 5), Map.of())))
                .contains(5L);
        assertThat(waiting(alice, name)).hasSize(1);
    }

    @Test
    @DisplayName("an arrival of a session that has ended is not put")
    void arrivalsOfTheEnded() {
        ResourceName name = named("ended");
        OpenedSession session = session(alice);
        answer(bob.closeSession(session.id()));
        assertThat(answer(alice.announce(arrival(name, session, 1, 0), Map.of())))
                .isEmpty();
        assertThat(waiting(bob, name)).isEmpty();
    }

    @Test
    @DisplayName("an arrival brings mail to other sessions, and none where it is not put")
    void mail() {
        ResourceName name = named("notices");
        OpenedSession hers = session(alice);
        OpenedSession his = session(bob);
        answer(alice.announce(arrival(name, hers, 1, 0), Map.of(his.id(), bytes("first"))));
        answer(alice.raiseEpoch(hers.id(), 5));
        answer(alice.announce(arrival(name, hers, 2, 4), Map.of(his.id(), bytes("of none"))));
        answer(alice.announce(arrival(name, hers, 3, 5), Map.of(his.id(), bytes("last"))));
        until("the mail is there", () -> bobHears.hasMail(his, "last"));
        assertThat(bobHears.mail()).containsExactly(his.id() + ": first", his.id() + ": last");
        assertThat(waiting(bob, name)).hasSize(2);
    }

    @Test
    @DisplayName("an arrival is put though a session that was to get mail has ended")
    void mailToTheEnded() {
        ResourceName name = named("notices to the ended");
        OpenedSession hers = session(alice);
        OpenedSession his = session(bob);
        answer(bob.closeSession(his.id()));
        Arrival arrival = arrival(name, hers, 1, 0);
        assertThat(answer(alice.announce(arrival, Map.of(his.id(), bytes("late")))))
                .contains(0L);
        assertThat(waiting(bob, name)).containsExactly(told(arrival));
        assertThat(bobHears.mail()).isEmpty();
    }

    @Test
    @DisplayName("what is retracted is gone until it is announced again; to retract it again does nothing")
    void retracting() {
        ResourceName name = named("retracted");
        OpenedSession session = session(alice);
        Arrival arrival = arrival(name, session, 1, 0);
        answer(alice.announce(arrival, Map.of()));
        done(bob.retract(arrival));
        done(alice.retract(arrival));
        assertThat(waiting(alice, name)).isEmpty();
        answer(alice.announce(arrival, Map.of()));
        assertThat(waiting(bob, name)).containsExactly(told(arrival));
        written(bob, takingIn(put(name, present(name), "after all"), arrival));
        assertThat(waiting(alice, name)).isEmpty();
    }

    private static void done(CompletionStage<Void> stage) {
        answer(stage.thenApply(nothing -> true));
    }
}
