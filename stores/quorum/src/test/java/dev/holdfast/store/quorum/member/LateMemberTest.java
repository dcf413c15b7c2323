package dev.holdfast.store.quorum.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.memory.ReferenceStore;
import dev.holdfast.store.quorum.QuorumStore;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A member that is named by a URI")
class LateMemberTest {

    private static final Command OPEN = new Command.OpenSession(Duration.ofMinutes(1), "test");

    /** What opens a store, by the rest of its URI. */
    private static final Map<String, Supplier<LockStore>> STORES = new ConcurrentHashMap<>();

    private final ClassLoader classLoader = Thread.currentThread().getContextClassLoader();
    private final AtomicInteger closed = new AtomicInteger();
    private final List<Consumer<Signal>> listeners = new CopyOnWriteArrayList<>();

    /** Opens {@code stub:} URIs. */
    public static final class Provider implements StoreProvider {

        /** For {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of("stub");
        }

        @Override
        public LockStore open(StoreUri uri) {
            return Objects.requireNonNull(STORES.get(uri.rest())).get();
        }
    }

    @BeforeEach
    void provide(@TempDir Path home) throws IOException {
        URL services = Files.writeString(home.resolve("services"), Provider.class.getName())
                .toUri()
                .toURL();
        Thread.currentThread().setContextClassLoader(new ClassLoader(classLoader) {
            @Override
            protected Enumeration<URL> findResources(String name) {
                return name.equals("META-INF/services/" + StoreProvider.class.getName())
                        ? Collections.enumeration(List.of(services))
                        : Collections.emptyEnumeration();
            }
        });
        STORES.put("away", () -> {
            throw new StoreException(Reason.UNAVAILABLE, Effect.NONE, "nothing listens there", null);
        });
        for (String name : List.of("a", "b", "c")) {
            STORES.put(name, () -> store(traits -> traits));
        }
        STORES.put("unfit", () -> store(traits -> StoreTraits.of("too simple").build()));
    }

    @AfterEach
    void restore() {
        Thread.currentThread().setContextClassLoader(classLoader);
        STORES.clear();
    }

    /** A store in memory that pushes what the test says, and whose end is counted. */
    private LockStore store(UnaryOperator<StoreTraits> traits) {
        ReferenceStore memory = new ReferenceStore();
        return (LockStore) Proxy.newProxyInstance(
                LockStore.class.getClassLoader(),
                new Class<?>[] {LockStore.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "traits" -> traits.apply(memory.traits());
                    case "subscribe" -> subscription(signals(arguments[0]));
                    case "close" -> {
                        closed.incrementAndGet();
                        yield method.invoke(memory, arguments);
                    }
                    default -> method.invoke(memory, arguments);
                });
    }

    private LockStore.Subscription subscription(Consumer<Signal> listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    @SuppressWarnings("unchecked") // the only parameter of subscribe
    private static Consumer<Signal> signals(Object listener) {
        return (Consumer<Signal>) listener;
    }

    private static LateMember member(String name) {
        return new LateMember(StoreUri.parse("stub:" + name));
    }

    private static CompletableFuture<Reply> execute(LockStore store) {
        return store.execute(OPEN, CallerMode.ASYNC).toCompletableFuture();
    }

    private static void assertFails(LockStore store, Reason reason) {
        assertThatThrownBy(() -> execute(store).join())
                .cause()
                .isInstanceOfSatisfying(StoreException.class, failure -> {
                    assertThat(failure.reason()).isEqualTo(reason);
                    assertThat(failure.effect()).isEqualTo(Effect.NONE);
                });
    }

    @Test
    @DisplayName("executes commands and pushes signals when it is open")
    void open() {
        LateMember member = member("a");
        List<Signal> signals = new ArrayList<>();
        var unused = member.subscribe(signals::add);
        assertThat(LateMember.isMissing(member)).isTrue();
        member.open().join();
        assertThat(LateMember.isMissing(member)).isFalse();
        assertThat(member.problem()).isEmpty();
        assertThat(execute(member)).isCompletedWithValueMatching(Reply.SessionOpened.class::isInstance);
        Signal revoked = new Signal.Revoked(new ClaimRef(new ResourceName("ledger"), new SessionId("s"), 1));
        listeners.forEach(listener -> listener.accept(revoked));
        assertThat(signals).containsExactly(revoked);
        member.close();
        assertThat(closed).hasValue(1);
    }

    @Test
    @DisplayName("fails commands without effect until it can be opened, and tries again")
    void late() {
        LateMember member = member("away");
        member.open().join();
        assertThat(member.problem()).hasValue("nothing listens there");
        assertFails(member, Reason.UNAVAILABLE);
        STORES.put("away", () -> store(traits -> traits));
        long deadline = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        while (LateMember.isMissing(member)) {
            assertThat(System.nanoTime() - deadline).isNegative();
            var unused = execute(member);
            LockSupport.parkNanos(5_000_000);
        }
        assertThat(execute(member)).isCompletedWithValueMatching(Reply.SessionOpened.class::isInstance);
    }

    @Test
    @DisplayName("stays closed if it is closed while it is being opened")
    void closedMeanwhile() {
        CompletableFuture<Boolean> answered = new CompletableFuture<>();
        STORES.put(
                "slow",
                () -> answered.thenApply(done -> store(traits -> traits)).join());
        LateMember member = member("slow");
        CompletableFuture<Void> opening = member.open();
        member.close();
        assertFails(member, Reason.CLOSED);
        assertThat(answered.complete(true)).isTrue();
        opening.join();
        assertThat(closed).hasValue(1);
        assertFails(member, Reason.CLOSED);
    }

    @Test
    @DisplayName("is refused and closed if it was reached late and can't be part of a quorum")
    void unfit() {
        LateMember member = member("unfit");
        var unused = member.subscribe(signal -> {});
        assertThatThrownBy(() -> member.open().join()).hasCauseInstanceOf(IllegalArgumentException.class);
        assertThat(member.problem().orElseThrow()).contains("too simple");
        assertThat(LateMember.isMissing(member)).isTrue();
        assertThat(closed).hasValue(1);
    }

    @Test
    @DisplayName("is numbered like the others, and may be missing if a majority is there")
    void names() {
        List<LockStore> opened = new ArrayList<>();
        List<NamedStore> members = MemberOpening.open(
                List.of(new ReferenceStore(), StoreUri.parse("stub:a"), StoreUri.parse("stub:away")), opened);
        assertThat(members.stream().map(NamedStore::name))
                .containsExactly("member 1 (memory)", "member 2 (stub:a)", "member 3 (stub:away)");
        assertThat(opened)
                .containsExactly(members.get(1).store(), members.get(2).store());
    }

    @Test
    @DisplayName("is closed with the quorum, and also if that can't be opened")
    void closedWithTheQuorum() {
        QuorumStore store = quorum("a", "b", "c").open();
        assertThat(execute(store).join()).isInstanceOf(Reply.SessionOpened.class);
        assertThat(closed).hasValue(0);
        store.close();
        assertThat(closed).hasValue(3);
        STORES.put("b", STORES.get("away"));
        assertThatThrownBy(quorum("a", "b", "away")::open)
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("stub:b: nothing listens there");
        assertThat(closed).hasValue(4);
        assertThatThrownBy(quorum("a", "unfit", "c")::open).isInstanceOf(IllegalArgumentException.class);
        assertThat(closed).hasValue(7);
    }

    @Test
    @DisplayName("makes the quorum fail with its own failure if its URI is wrong")
    void wrongUri() {
        STORES.put("wrong", () -> {
            throw new IllegalArgumentException("unknown parameter");
        });
        assertThatThrownBy(quorum("a", "wrong", "c")::open)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("unknown parameter");
    }

    private static QuorumStore.Builder quorum(String... names) {
        QuorumStore.Builder builder = QuorumStore.builder();
        for (String name : names) {
            builder.member("stub:" + name);
        }
        return builder;
    }
}
