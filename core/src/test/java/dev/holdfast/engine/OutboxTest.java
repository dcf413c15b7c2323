package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutboxTest {

    private final Outbox out = new Outbox();
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
        IllegalStateException first = new IllegalStateException("first");
        IllegalStateException second = new IllegalStateException("second");
        out.add(() -> {
            throw first;
        });
        out.add(() -> done.add("a"));
        out.add(() -> {
            throw second;
        });
        out.add(() -> done.add("b"));

        assertThatThrownBy(out::send).isSameAs(first).hasSuppressedException(second);

        assertThat(done).containsExactly("a", "b");
    }
}
