package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Two clients of the server under test, and what tests do with them. */
abstract class AdapterHarness {

    static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration PAUSE = Duration.ofMillis(10);

    /** Longer than a test takes on a slow machine, for sessions that are not to end by themselves. */
    static final Duration LONG = Duration.ofMinutes(5);

    private final Deque<RegisterAdapter> opened = new ArrayDeque<>();
    RegisterAdapter alice;
    RegisterAdapter bob;
    Inbox aliceHears;
    Inbox bobHears;

    /** Names of one test begin with it. */
    String prefix;

    abstract RegisterAdapterRules server();

    @BeforeEach
    void connect() throws Exception {
        prefix = "rules-" + UUID.randomUUID() + "/";
        aliceHears = new Inbox();
        bobHears = new Inbox();
        alice = another(aliceHears);
        bob = another(bobHears);
    }

    @AfterEach
    void disconnect() {
        opened.forEach(RegisterAdapter::close);
    }

    RegisterAdapter another(RegisterListener listener) throws Exception {
        RegisterAdapter adapter = server().connect();
        opened.push(adapter);
        adapter.listen(listener);
        return adapter;
    }

    ResourceName named(String name) {
        return new ResourceName(prefix + name);
    }

    /** A ttl that is not over before the test is, as far as the server has such. */
    Duration longTtl() {
        Duration longest = alice.traits().maxSessionTtl();
        return longest.compareTo(LONG) < 0 ? longest : LONG;
    }

    OpenedSession session(RegisterAdapter adapter) {
        return answer(adapter.openSession(longTtl(), "a session of " + prefix));
    }

    OpenedSession shortSession(RegisterAdapter adapter) {
        return answer(adapter.openSession(adapter.traits().minSessionTtl(), "a short one"));
    }

    @CanIgnoreReturnValue
    static <T> T answer(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("An answer was expected", e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("No answer within " + PATIENCE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    static Throwable failure(CompletionStage<?> stage) {
        try {
            Object answer = stage.toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            throw new AssertionError("A failure was expected, not " + answer);
        } catch (ExecutionException e) {
            return e.getCause();
        } catch (TimeoutException e) {
            throw new AssertionError("No answer within " + PATIENCE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Waits in real time, while the server's moves. */
    void until(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - start)
                    .as("it is to be so within a minute that " + what)
                    .isLessThan(PATIENCE.toNanos());
            LockSupport.parkNanos(PAUSE.toNanos());
            server().letTimePass(PAUSE);
        }
    }

    boolean lives(RegisterAdapter adapter, SessionId session) {
        return answer(adapter.sessions(Set.of(session))).containsKey(session);
    }

    /** All entries of the index of a session; none where it has ended. */
    static List<IndexEntry> claims(RegisterAdapter adapter, SessionId session) {
        return claims(adapter, session, 1_000);
    }

    static List<IndexEntry> claims(RegisterAdapter adapter, SessionId session, int limit) {
        List<IndexEntry> all = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            Optional<IndexPage> page = answer(adapter.claims(session, cursor, limit));
            page.ifPresent(entries -> {
                assertThat(entries.entries()).hasSizeLessThanOrEqualTo(limit);
                all.addAll(entries.entries());
            });
            cursor = page.flatMap(IndexPage::cursor);
        } while (cursor.isPresent());
        return all;
    }

    // Writes.

    @CanIgnoreReturnValue
    RecordVersion written(RegisterAdapter adapter, ConditionalWrite write) {
        WriteResult result = answer(adapter.write(write));
        assertThat(result).isInstanceOf(WriteResult.Written.class);
        return ((WriteResult.Written) result).version();
    }

    /** Expects that a write was refused because of the record or an arrival. */
    static void expectConflict(WriteResult result) {
        expectRefusal(result, Set.of(), Map.of());
    }

    static void expectRefusal(WriteResult result, Set<SessionId> gone, Map<SessionId, Long> raised) {
        assertThat(result).isInstanceOfSatisfying(WriteResult.Refused.class, refused -> {
            assertThat(refused.gone()).isEqualTo(gone);
            assertThat(refused.raised()).isEqualTo(raised);
        });
    }

    RecordVersion present(ResourceName name) {
        return answer(bob.read(name)).version();
    }

    String text(ResourceName name) {
        return text(answer(bob.read(name)));
    }

    static String text(RegisterRecord record) {
        return record.state().map(AdapterHarness::text).orElse("(none)");
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static ConditionalWrite put(ResourceName name, RecordVersion expected, String state) {
        return new ConditionalWrite(
                name, expected, Optional.of(bytes(state)), 0, Map.of(), Map.of(), List.of(), List.of());
    }

    static ConditionalWrite delete(ResourceName name, RecordVersion expected, long floor) {
        return new ConditionalWrite(name, expected, Optional.empty(), floor, Map.of(), Map.of(), List.of(), List.of());
    }

    static ConditionalWrite by(ConditionalWrite write, Map<SessionId, Long> writers) {
        return with(write, writers, write.mail(), write.index(), write.arrivals());
    }

    static ConditionalWrite by(ConditionalWrite write, OpenedSession session, long epoch) {
        return by(write, Map.of(session.id(), epoch));
    }

    static ConditionalWrite mailing(ConditionalWrite write, OpenedSession session, String mail) {
        return with(write, write.writers(), Map.of(session.id(), bytes(mail)), write.index(), write.arrivals());
    }

    static ConditionalWrite indexing(ConditionalWrite write, IndexChange... changes) {
        return with(write, write.writers(), write.mail(), List.of(changes), write.arrivals());
    }

    static ConditionalWrite takingIn(ConditionalWrite write, Arrival... arrivals) {
        return with(write, write.writers(), write.mail(), write.index(), List.of(arrivals));
    }

    private static ConditionalWrite with(
            ConditionalWrite write,
            Map<SessionId, Long> writers,
            Map<SessionId, byte[]> mail,
            List<IndexChange> index,
            List<Arrival> arrivals) {
        return new ConditionalWrite(
                write.resource(), write.expected(), write.state(), write.floor(), writers, mail, index, arrivals);
    }

    static ClaimRef claim(ResourceName name, OpenedSession session, long number) {
        return new ClaimRef(name, session.id(), number);
    }
}
