package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.store.memory.ReferenceStore;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

@DisplayName("An application with locks, and its store")
class StoreTest {

    private final ReferenceStore memory = new ReferenceStore();
    private final World world = new World();

    @AfterEach
    void close() throws Exception {
        world.close();
        memory.close();
    }

    /** A store that notes what it is asked, and may serve less than it could. */
    private static final class NotingStore extends ForwardingStore {

        private final StoreTraits traits;
        private final List<Command> commands = new CopyOnWriteArrayList<>();

        NotingStore(LockStore store, StoreTraits traits) {
            super(store);
            this.traits = traits;
        }

        @Override
        public StoreTraits traits() {
            return traits;
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            commands.add(command);
            return super.execute(command, caller);
        }

        @Override
        public void close() {}
    }

    static class Jobs {
        @Locked(name = "job", key = "#id")
        void run(String id) {}

        @ScheduledLock(name = "nightly", atMost = "1h")
        void nightly() {}
    }

    static class Readers {
        @Locked(name = "catalogue", mode = LockMode.READ)
        void read() {}
    }

    static class Permitted {
        @Locked(name = "gpu", mode = LockMode.PERMITS, capacity = 2)
        void train() {}
    }

    private AnnotationConfigApplicationContext start(LockStore store, Class<?>... classes) {
        AnnotationConfigApplicationContext context = world.unstarted(Map.of(), classes);
        context.register(World.Enabled.class);
        context.registerBean(
                "holdfast", Holdfast.class, () -> Holdfast.builder(store).build());
        context.refresh();
        return context;
    }

    @Test
    @DisplayName("sends nothing to it but what its client does by itself, until a lock is used")
    void noTraffic() {
        NotingStore bare = new NotingStore(memory, memory.traits());
        List<Class<?>> ofTheClient;
        try (Holdfast client = Holdfast.builder(bare).build()) {
            assertThat(client.toString()).isNotBlank();
            ofTheClient = types(bare);
        }
        NotingStore store = new NotingStore(memory, memory.traits());
        var context = start(store, Jobs.class, Readers.class, Permitted.class);
        assertThat(types(store)).isEqualTo(ofTheClient);
        context.getBean(Jobs.class).run("7");
        assertThat(types(store)).hasSizeGreaterThan(ofTheClient.size());
    }

    private static List<Class<?>> types(NotingStore store) {
        return store.commands.stream()
                .<Class<?>>map(Command::getClass)
                .filter(type -> type != Command.KeepAlive.class)
                .toList();
    }

    @Test
    @DisplayName("does not start if a method has a mode that the store does not serve")
    void unservedMode() {
        StoreTraits mutexes = StoreTraits.of("mutexes")
                .with(Feature.FIFO, Feature.PUSH, Feature.DETACHED_GRANTS)
                .fixedLease(memory.traits().fixedLease())
                .build();
        NotingStore store = new NotingStore(memory, mutexes);
        assertThatThrownBy(() -> start(store, Readers.class))
                .hasMessageContaining("Readers#read(): the store doesn't support this")
                .hasMessageContaining("doesn't support read-write locks");
        assertThatThrownBy(() -> start(store, Permitted.class))
                .hasMessageContaining("Permitted#train(): the store doesn't support this");
        assertThatCode(() -> start(store, Jobs.class)).doesNotThrowAnyException();
    }
}
