package dev.holdfast.store.quorum;

import dev.holdfast.servers.RedisServer;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.store.redis.RedisStore;
import dev.holdfast.testkit.StoreUnderTest;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Two quorums of the same Redis servers, in a namespace of their own. */
final class QuorumOfRedisUnderTest implements StoreUnderTest {

    private static final class Shared {
        private static final List<RedisServer> SERVERS =
                Stream.generate(RedisServer::start).limit(3).toList();
        private static final ClientResources RESOURCES = ClientResources.create();
    }

    private static final AtomicInteger NAMESPACES = new AtomicInteger();

    private final String namespace = "quorum-" + NAMESPACES.incrementAndGet();
    private final List<LockStore> members = new ArrayList<>();
    private final QuorumStore first = open();
    private final QuorumStore second = open();

    private QuorumStore open() {
        QuorumStore.Builder builder =
                QuorumStore.builder().longestLease(Command.MAX_DURATION).answerWithin(Duration.ofSeconds(30));
        for (RedisServer server : Shared.SERVERS) {
            LockStore member = RedisStore.builder(RedisURI.create("127.0.0.1", server.port()))
                    .namespace(namespace)
                    .commandTimeout(Duration.ofSeconds(30))
                    .connectTimeout(Duration.ofMinutes(1))
                    .resources(Shared.RESOURCES)
                    .open();
            members.add(member);
            builder.member(new OneByOne(member));
        }
        return builder.open();
    }

    /**
     * The kit makes one step after another and checks its effect. But a quorum may still have to settle something with
     * a slow member, so this waits for every answer. Other tests cover answers in any order.
     */
    private record OneByOne(LockStore member) implements LockStore {
        @Override
        public StoreTraits traits() {
            return member.traits();
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            CompletableFuture<Reply> answer = member.execute(command, caller).toCompletableFuture();
            return answer.handle((reply, failure) -> answer).join();
        }

        @Override
        public Subscription subscribe(Consumer<Signal> listener) {
            return member.subscribe(listener);
        }

        @Override
        public void close() {
            member.close();
        }
    }

    @Override
    public LockStore first() {
        return first;
    }

    @Override
    public LockStore second() {
        return second;
    }

    @Override
    public Duration shortTtl() {
        return Duration.ofMillis(500);
    }

    /** Members whose clocks are apart are asked for more tokens than are wanted. */
    @Override
    public boolean retells() {
        return true;
    }

    /** Each command takes several requests; the random runs use reference stores, where they cost nothing. */
    @Override
    public int randomRuns() {
        return 10;
    }

    @Override
    public boolean damage(ResourceName name) {
        for (RedisServer server : Shared.SERVERS) {
            RedisClient hand = RedisClient.create(Shared.RESOURCES, RedisURI.create("127.0.0.1", server.port()));
            hand.connect().sync().hset(namespace + ":{0}:h", name.value(), "rubbish");
            hand.shutdown();
        }
        return true;
    }

    @Override
    public void close() {
        first.close();
        second.close();
        members.forEach(LockStore::close);
    }
}
