package dev.holdfast.engine.deadlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.deadlock.WaitLine.Blocking;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The detector of deadlocks")
class DeadlockDetectorTest {

    private static final long OWN = 1;
    private static final long OTHER = 2;
    private static final OwnWait.Owner OWNER = new OwnWait.Owner("other", "session", "");

    private final Object request = new Object();
    private final OwnWait own = new OwnWait(
            request,
            new Object(),
            "own",
            "a",
            Blocking.ALL,
            "",
            1_000,
            false,
            List.of(new OwnWait.Hold(new Object(), "b", true, 7, OWNER)));
    private final DeadlockDetector detector = new DeadlockDetector(new DeadlockRules(), () -> OWN, 30_000_000_000L);

    private List<List<WaitNode>> found(Set<Long> acksAtA, Set<Long> acksAtC) {
        Walk walk = new Walk();
        assertThat(walk.begin(List.of("a"))).containsExactly("a");
        for (NameState state : List.of(state("a", acksAtA), state("c", acksAtC))) {
            walk.add(state);
        }
        return detector.evaluate(List.of(own), Set.of(request), walk, 0).deadlocks();
    }

    private static NameState state(String name, Set<Long> acks) {
        WaitLine line = new WaitLine(OTHER, "b", Blocking.ALL, true, 8, "thread", 1, 1_000, false, acks);
        return new NameState(name, List.of(new NameState.Holder(OWNER, List.of(line.format()))), List.of());
    }

    @Test
    @DisplayName("counts an acknowledgement only for the hold under which it is stated")
    void acksOfOtherHolds() {
        assertThat(found(Set.of(), Set.of())).isEmpty();
        assertThat(found(Set.of(), Set.of(OWN)))
                .as("the line at 'a' may be that of a hold that was lost since")
                .isEmpty();
        assertThat(found(Set.of(OWN), Set.of())).hasSize(1);
    }
}
