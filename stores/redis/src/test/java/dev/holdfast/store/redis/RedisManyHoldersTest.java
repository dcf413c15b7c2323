package dev.holdfast.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.BarrierMembership;
import dev.holdfast.Holdfast;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.support.ForwardingStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a client sees of a name whose holders the server reports in several parts. */
@Tag("server")
class RedisManyHoldersTest {

    /** Two pages and a half. */
    private static final int PARTIES = 5 * RedisInspection.LARGEST_PAGE / 2;

    /** Counts the pages after the first. */
    private static final class Paged extends ForwardingStore {
        private final AtomicInteger pages;

        Paged(LockStore store, AtomicInteger pages) {
            super(store);
            this.pages = pages;
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            if (command instanceof Command.Inspect inspect && inspect.cursor().isPresent()) {
                pages.incrementAndGet();
            }
            return super.execute(command, caller);
        }
    }

    @Test
    @DisplayName("a barrier of more parties than the server tells at once opens when the last has come, and not before")
    void barrierOfSeveralPages() throws Exception {
        TestServer server = TestServer.shared();
        AtomicInteger pages = new AtomicInteger();
        try (RedisStore parties = open(server);
                Holdfast client = client(new Paged(open(server), pages))) {
            // They only take permits: waiters would poll repeatedly.
            SessionId session = Asking.session(parties, Duration.ofMinutes(10));
            ResourceSpec places = new ResourceSpec(Kind.SEMAPHORE, PARTIES, Order.FAIR);
            for (int i = 1; i <= PARTIES - 2; i++) {
                Asking.send(
                        parties,
                        new Command.Acquire(
                                Asking.claim("start", session, i),
                                0,
                                Command.Sending.FIRST,
                                places,
                                1,
                                Lease.SESSION,
                                Command.Waiting.TRY,
                                1),
                        Reply.Granted.class);
            }

            CompletableFuture<BarrierMembership> first = enter(client);
            Asking.until("it has looked", () -> pages.get() > 1);
            assertThat(first).as("one has not come").isNotDone();
            CompletableFuture<BarrierMembership> last = enter(client);

            BarrierMembership inside = last.get(60, TimeUnit.SECONDS);
            assertThat(first.get(60, TimeUnit.SECONDS).generation()).isEqualTo(inside.generation());
            Asking.send(parties, new Command.CloseSession(session), Reply.Done.class);
            CompletableFuture<Void> left = inside.leaveAsync().toCompletableFuture();
            first.join().leaveAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
            left.get(60, TimeUnit.SECONDS);
            assertThat(Asking.inspectAll(parties, "start"))
                    .extracting(info -> info.name().value())
                    .doesNotContain("start");
        }
    }

    private static CompletableFuture<BarrierMembership> enter(Holdfast client) {
        return client.barrier("start", PARTIES).enterAsync().toCompletableFuture();
    }

    private static Holdfast client(LockStore store) {
        return Holdfast.builder(store)
                .sessionTtl(Duration.ofMinutes(2))
                .storeTimeout(Duration.ofSeconds(60))
                .build();
    }

    private static RedisStore open(TestServer server) {
        return server.builder().namespace("many").open();
    }
}
