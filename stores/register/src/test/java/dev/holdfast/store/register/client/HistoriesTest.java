package dev.holdfast.store.register.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.History;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.memory.MemoryAdapter;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The history of a task that this version did not write")
class HistoriesTest {

    private static final ResourceName TASK = new ResourceName("report");

    private final MemoryAdapter adapter = new MemoryRegister(RegisterTraits.Clock.REVISIONS, () -> 0).connect();
    private final Histories histories = new Histories(adapter);

    private static <T> T answer(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    private void write(int... octets) {
        byte[] content = new byte[octets.length];
        for (int i = 0; i < octets.length; i++) {
            content[i] = (byte) octets[i];
        }
        assertThat(answer(adapter.replaceHistory(TASK, new History(Optional.empty(), 0), content)))
                .isTrue();
    }

    @Test
    @DisplayName("is skipped, and left as it is, if a newer version did")
    void newer() {
        write(2, 7, 7);
        assertThat(answer(histories.record(new Command.RecordRun(TASK, 1, "run"))))
                .isInstanceOf(Reply.Done.class);
        assertThat(answer(histories.list(new Command.ListRuns(TASK)))).isEqualTo(new Reply.Runs(List.of()));
        assertThat(answer(adapter.history(TASK)).content())
                .hasValueSatisfying(content -> assertThat(content).containsExactly(2, 7, 7));
    }

    @Test
    @DisplayName("is reported as damaged if no version did, and not overwritten")
    void damaged() {
        write(1, 3, 9);
        for (CompletionStage<Reply> stage : List.of(
                histories.list(new Command.ListRuns(TASK)), histories.record(new Command.RecordRun(TASK, 1, "run")))) {
            assertThatThrownBy(() -> answer(stage))
                    .hasCauseInstanceOf(StoreException.class)
                    .hasMessageContaining("history of task 'report'");
        }
        assertThat(answer(adapter.history(TASK)).content())
                .hasValueSatisfying(content -> assertThat(content).containsExactly(1, 3, 9));
    }
}
