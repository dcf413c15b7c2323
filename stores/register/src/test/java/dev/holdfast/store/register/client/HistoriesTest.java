package dev.holdfast.store.register.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.History;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.memory.MemoryAdapter;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The history of a task")
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
    @DisplayName("is skipped, and left as it is, if a newer version wrote it")
    void newer() {
        write(2, 7, 7);
        assertThat(answer(histories.record(new Command.RecordRun(TASK, 1, "run"))))
                .isInstanceOf(Reply.Done.class);
        assertThat(answer(histories.list(new Command.ListRuns(TASK)))).isEqualTo(new Reply.Runs(List.of()));
        assertThat(answer(adapter.history(TASK)).content())
                .hasValueSatisfying(content -> assertThat(content).containsExactly(2, 7, 7));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    @DisplayName("is reported as damaged if no version wrote it, and not overwritten")
    void damaged(int runs) {
        write(1, runs, 9);
        for (CompletionStage<Reply> stage : List.of(
                histories.list(new Command.ListRuns(TASK)), histories.record(new Command.RecordRun(TASK, 1, "run")))) {
            assertThatThrownBy(() -> answer(stage))
                    .hasCauseInstanceOf(StoreException.class)
                    .hasMessageContaining("history of task 'report'");
        }
        assertThat(answer(adapter.history(TASK)).content())
                .hasValueSatisfying(content -> assertThat(content).containsExactly(1, runs, 9));
    }

    @Test
    @DisplayName("is read and written again if others change it meanwhile, but not for ever")
    void changing() {
        Command.RecordRun run = new Command.RecordRun(TASK, 1, "run");
        assertThat(answer(new Histories(changing(4)).record(run))).isInstanceOf(Reply.Done.class);
        assertThat(answer(histories.list(new Command.ListRuns(TASK))))
                .isEqualTo(new Reply.Runs(List.of(new Reply.Runs.Run(1, "run"))));
        CompletionStage<Reply> vain = new Histories(changing(100)).record(run);
        assertThatThrownBy(() -> answer(vain))
                .cause()
                .isInstanceOfSatisfying(
                        StoreException.class,
                        failure -> assertThat(failure.effect()).isEqualTo(StoreException.Effect.NONE))
                .hasMessageContaining("keep changing the history of task 'report'");
    }

    /** An adapter whose first writes fail, because others have changed the history meanwhile. */
    private RegisterAdapter changing(int times) {
        AtomicInteger left = new AtomicInteger(times);
        return (RegisterAdapter) Proxy.newProxyInstance(
                RegisterAdapter.class.getClassLoader(),
                new Class<?>[] {RegisterAdapter.class},
                (proxy, method, arguments) -> method.getName().equals("replaceHistory") && left.getAndDecrement() > 0
                        ? CompletableFuture.completedFuture(false)
                        : method.invoke(adapter, arguments));
    }
}
