package dev.holdfast.engine.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeferredActionsTest {

    private final DeferredActions out = new DeferredActions();
    private final List<String> done = new ArrayList<>();

    @Test
    void actionsAreDoneOnceInTheirOrder() {
        out.send();
        out.add(() -> done.add("a"));
        out.add(() -> done.add("b"));
        out.send();
        out.send();
        assertThat(done).containsExactly("a", "b");
    }

    @Test
    void oneThatThrowsKeepsNoneFromBeingDone() {
        out.add(() -> {
            throw new IllegalStateException("first");
        });
        out.add(() -> done.add("a"));
        out.add(() -> {
            throw new OutOfMemoryError("second");
        });
        out.add(() -> done.add("b"));

        out.send();

        assertThat(done).containsExactly("a", "b");
    }
}
