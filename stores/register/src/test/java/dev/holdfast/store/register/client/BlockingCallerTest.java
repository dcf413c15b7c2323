package dev.holdfast.store.register.client;

import static dev.holdfast.store.register.Commands.mutex;
import static dev.holdfast.store.register.Commands.open;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A thread that waits for its command may make the round trip of the write itself,")
class BlockingCallerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final AtomicLong micros = new AtomicLong(1);

    @AutoClose
    private final SystemTime timers = new SystemTime("blocking-caller-test");

    private final MemoryRegister server = new MemoryRegister(RegisterTraits.Clock.REVISIONS, micros::get);

    /** For how long each write might block; zero for one that must not. */
    private final List<Duration> writes = new ArrayList<>();

    /** The answer to a read, which comes when the test completes this. */
    private @Nullable CompletableFuture<Boolean> readAnswered;

    @AutoClose
    private final RegisterStore store = RegisterStore.over(adapter(), new ManualTime(micros, timers));

    private final ClaimRef claim = new ClaimRef(new ResourceName("lock"), open(store, Duration.ofMinutes(1)), 1);

    private RegisterAdapter adapter() {
        RegisterAdapter memory = server.connect();
        return (RegisterAdapter) Proxy.newProxyInstance(
                RegisterAdapter.class.getClassLoader(),
                new Class<?>[] {RegisterAdapter.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "traits" -> callerRuns(memory.traits());
                    case "guess" -> Optional.empty();
                    case "read" -> read(memory, (ResourceName) arguments[0]);
                    case "write" -> {
                        writes.add(arguments.length == 2 ? (Duration) arguments[1] : Duration.ZERO);
                        yield method.invoke(memory, arguments);
                    }
                    default -> method.invoke(memory, arguments);
                });
    }

    private static RegisterTraits callerRuns(RegisterTraits traits) {
        return new RegisterTraits(
                traits.product(),
                traits.system(),
                traits.clock(),
                traits.minSessionTtl(),
                traits.maxSessionTtl(),
                traits.ttlGranularity(),
                traits.portableSessions(),
                traits.orderedListing(),
                true,
                traits.maxStateBytes(),
                traits.maxChanges());
    }

    private CompletionStage<RegisterRecord> read(RegisterAdapter memory, ResourceName resource) {
        CompletionStage<RegisterRecord> record = memory.read(resource);
        return readAnswered == null ? record : readAnswered.thenCombine(record, (done, present) -> present);
    }

    private CompletableFuture<Reply> execute(Command command, CallerMode mode) {
        return store.execute(command, mode, PATIENCE).toCompletableFuture();
    }

    @Test
    @DisplayName("for as long as the command may take")
    void onItsThread() {
        assertThat(execute(mutex(claim, Waiting.QUEUE), CallerMode.BLOCKING)).isCompleted();
        assertThat(writes).containsExactly(PATIENCE);
    }

    @Test
    @DisplayName("but not if it does not wait")
    void async() {
        assertThat(execute(mutex(claim, Waiting.QUEUE), CallerMode.ASYNC)).isCompleted();
        assertThat(writes).containsExactly(Duration.ZERO);
    }

    @Test
    @DisplayName("but not after it has returned from its call")
    void afterItsCall() {
        CompletableFuture<Boolean> answered = new CompletableFuture<>();
        readAnswered = answered;
        CompletableFuture<Reply> reply = execute(mutex(claim, Waiting.QUEUE), CallerMode.BLOCKING);
        assertThat(reply).isNotDone();
        assertThat(answered.complete(true)).isTrue();
        assertThat(reply).isCompleted();
        assertThat(writes).containsExactly(Duration.ZERO);
    }

    @Test
    @DisplayName("but no other thread may, nor itself when the time is over")
    void onAnotherThread() throws InterruptedException {
        BlockingCaller caller = new BlockingCaller(adapter());
        ConditionalWrite write = new ConditionalWrite(
                claim.resource(),
                new RecordVersion(0, 0),
                Optional.empty(),
                0,
                Map.of(),
                Map.of(),
                List.of(),
                List.of());
        caller.begin(0, PATIENCE);
        Thread another = new Thread(() -> {
            var unused = caller.write(write, 0);
        });
        another.start();
        another.join();
        long[] times = {Duration.ofSeconds(2).toNanos(), PATIENCE.toNanos()};
        for (long now : times) {
            assertThat(caller.write(write, now)).isCompleted();
        }
        assertThat(writes).containsExactly(Duration.ZERO, Duration.ofSeconds(3), Duration.ZERO);
    }
}
