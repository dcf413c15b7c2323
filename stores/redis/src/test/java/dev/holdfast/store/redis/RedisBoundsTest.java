package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.claim;
import static dev.holdfast.store.redis.Asking.send;
import static dev.holdfast.store.redis.Asking.session;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.redis.script.BucketLayout;
import dev.holdfast.store.redis.script.Script;
import dev.holdfast.store.redis.script.ScriptCall;
import dev.holdfast.store.redis.script.ScriptReply;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Regardless of how many claims wait, hold or expire, one call of the script takes a bounded number of steps: the
 * commands that the server counts meanwhile. The following calls, of any client, do the rest.
 */
@Tag("server")
class RedisBoundsTest {

    /** Of one call with one command: 8 ms where a step takes 8 µs, all that is around it included. */
    private static final long MOST_STEPS = 1_000;

    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final ResourceSpec CATALOGUE = new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, Order.FAIR);

    private final RedisUnderTest bench = RedisUnderTest.onManualTime();
    private final LockStore store = bench.first();
    private final RedisClient client =
            RedisClient.create(RedisUnderTest.RESOURCES, TestServer.shared().uri());
    private final StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
    private long worst;

    @AfterEach
    void end() {
        connection.close();
        client.shutdown(0, 1, TimeUnit.SECONDS);
        bench.close();
    }

    /** One call with one command and without follow-up calls; counts its steps. */
    @CanIgnoreReturnValue
    private ScriptReply call(ScriptCall request) {
        BucketLayout layout = new BucketLayout(bench.namespace(), 1);
        List<byte[]> arguments = new ArrayList<>(List.of(layout.header(0)));
        arguments.addAll(request.arguments());
        long before = steps();
        List<Object> answers = connection
                .sync()
                .eval(
                        RedisUnderTest.onManualTime(Script.COMMANDS.text()).text(),
                        ScriptOutputType.MULTI,
                        layout.keys(0),
                        arguments.toArray(byte[][]::new));
        worst = Math.max(worst, steps() - before);
        return ScriptReply.read(answers, 1, 0).get(0);
    }

    private static long steps() {
        return TestServer.shared()
                .server()
                .command("INFO", "commandstats")
                .get(0)
                .toString()
                .lines()
                .filter(line -> line.startsWith("cmdstat_") && !line.startsWith("cmdstat_info"))
                .mapToLong(line -> Long.parseLong(line.replaceFirst("^[^:]*:calls=(\\d+),.*", "$1")))
                .sum();
    }

    private void askAll(Stream<Command> commands) {
        List<CompletableFuture<Reply>> answers = commands.map(
                        each -> store.execute(each, CallerMode.ASYNC).toCompletableFuture())
                .toList();
        answers.forEach(each -> assertThat(each.orTimeout(60, TimeUnit.SECONDS).join())
                .isInstanceOfAny(Reply.Granted.class, Reply.Queued.class));
    }

    private static Command reads(ClaimRef claim, int weight) {
        return new Command.Acquire(claim, 0, Sending.FIRST, CATALOGUE, weight, Lease.SESSION, Waiting.QUEUE, 1);
    }

    @Test
    void manySessionsThatExpireBesideALongQueue() {
        int many = 600;
        int waiting = 2_000;
        SessionId alive = session(store, HOUR);
        SessionId brief = session(store, TTL);
        askAll(Stream.of(Asking.acquire(claim("hot", brief, 1))));
        askAll(IntStream.range(10, waiting).mapToObj(i -> Asking.acquire(claim("hot", alive, i))));
        List<SessionId> dying =
                IntStream.range(0, many).mapToObj(i -> session(store, TTL)).toList();
        askAll(IntStream.range(0, many)
                .mapToObj(i -> Asking.acquire(claim(i % 2 == 0 ? "hot" : "name-" + i, dying.get(i), 1))));
        bench.advance(TTL);
        assertThat(call(ScriptCall.keepAlive(new Command.KeepAlive(alive, 0))).reply(new Command.KeepAlive(alive, 0)))
                .isInstanceOf(Reply.SessionAlive.class);
        int calls = 1;
        for (boolean more = true; more; calls++) {
            more = call(ScriptCall.poll(List.of(claim("hot", alive, 10)))).more();
            assertThat(calls).isLessThan(many);
        }
        assertThat(worst).isLessThan(MOST_STEPS);
        Reply.Inspected inspected = send(
                store,
                new Command.Inspect("hot", Optional.empty(), 10, Command.Inspect.Scope.NAME),
                Reply.Inspected.class);
        assertThat(inspected.resources().get(0).waiting()).isEqualTo(waiting - 10 - 1);
        assertThat(inspected.resources().get(0).holders())
                .extracting(party -> party.claim().claim())
                .containsExactly(10L);
    }

    @Test
    void whoHoldsANameIsToldInPartsAndTheOneIsFoundThatHasAToken() {
        int many = 5_000;
        SessionId readers = session(store, HOUR);
        askAll(IntStream.rangeClosed(1, many).mapToObj(i -> reads(claim("catalogue", readers, i), 1)));
        askAll(IntStream.rangeClosed(1, 300).mapToObj(i -> reads(claim("shelf-" + i, readers, i), 1)));
        askAll(IntStream.rangeClosed(1, 300).mapToObj(i -> reads(claim("shelf-" + i, readers, many + i), 1)));
        List<ClaimRef> claims = new ArrayList<>();
        List<Long> tokens = new ArrayList<>();
        Optional<String> place = Optional.of("");
        while (place.isPresent()) {
            ScriptReply page = call(ScriptCall.inspect(new ResourceName("catalogue"), place.get(), many));
            ResourceInfo info = page.info(new ResourceName("catalogue")).orElseThrow();
            assertThat(info.holding()).isEqualTo(many);
            assertThat(info.usedCapacity()).isEqualTo(many);
            info.holders().forEach(party -> claims.add(party.claim()));
            info.holders()
                    .forEach(party -> tokens.add(party.tokens().orElseThrow().first()));
            place = page.rest();
        }
        assertThat(claims).hasSize(many).doesNotHaveDuplicates();
        assertThat(tokens).isSorted();
        // Several names share the limit of what one call reports.
        List<byte[]> names = Stream.concat(
                        Stream.of("catalogue"), IntStream.rangeClosed(1, 199).mapToObj(i -> "shelf-" + i))
                .map(name -> new ResourceName(name).utf8())
                .toList();
        List<ScriptReply> beside = call(ScriptCall.inspect(names)).each();
        assertThat(beside.get(0)
                        .info(new ResourceName("catalogue"))
                        .orElseThrow()
                        .holding())
                .isEqualTo(many);
        assertThat(beside.get(names.size() - 1).isLeftOut()).isTrue();
        Map<ResourceName, ResourceInfo> all = new TreeMap<>();
        for (ResourceInfo info : Asking.inspectAll(store, "")) {
            assertThat(all.put(info.name(), info)).isNull();
        }
        assertThat(all).hasSize(301);
        assertThat(all.values()).filteredOn(info -> info.holding() == 2).hasSize(300);
        assertThat(worst).isLessThan(MOST_STEPS);

        // One that has got tokens since stands where its first ones were.
        ClaimRef early = claims.get(7);
        long block = send(store, new Command.Advance(early, tokens.get(7), 1, 0), Reply.Advanced.class)
                .tokens()
                .first();
        ResourceName catalogue = early.resource();
        assertThat(forced(catalogue, block)).isInstanceOf(Reply.Released.class);
        assertThat(forced(catalogue, block)).isInstanceOf(Reply.Absent.class);
        assertThat(forced(catalogue, tokens.get(7))).isInstanceOf(Reply.Absent.class);
        assertThat(forced(catalogue, tokens.get(many / 2))).isInstanceOf(Reply.Released.class);
        assertThat(forced(catalogue, tokens.get(many - 1))).isInstanceOf(Reply.Released.class);
        assertThat(forced(catalogue, tokens.get(0))).isInstanceOf(Reply.Released.class);
        assertThat(worst).isLessThan(MOST_STEPS);
        ScriptReply rest = call(ScriptCall.inspect(catalogue, "", 1));
        assertThat(rest.info(catalogue).orElseThrow().holding()).isEqualTo(many - 4);
        assertThat(send(store, new Command.Poll(List.of(early, claims.get(1))), Reply.Polled.class)
                        .states())
                .extracting(Object::getClass)
                .containsExactly(Reply.Absent.class, Reply.Granted.class);
    }

    /** Continues as the store does, counting the steps of each call. */
    private Reply forced(ResourceName name, long token) {
        Command.ForceRelease command = new Command.ForceRelease(name, token);
        ScriptReply answer = call(ScriptCall.force(command, ""));
        while (answer.rest().isPresent()) {
            answer = call(ScriptCall.force(command, answer.rest().get()));
        }
        return answer.reply(command);
    }

    @Test
    void manyReadersBehindAWriterWhoseClientDies() {
        int many = 1_000;
        SessionId writer = session(store, HOUR);
        SessionId readers = session(store, HOUR);
        SessionId other = session(store, HOUR);
        askAll(Stream.of(reads(claim("catalogue", writer, 1), Integer.MAX_VALUE)));
        // One after the other: which of two that are under way comes first is open.
        for (int i = 1; i <= many; i++) {
            send(store, reads(claim("catalogue", readers, i), 1), Reply.Queued.class);
        }
        askAll(Stream.of(reads(claim("catalogue", writer, 2), Integer.MAX_VALUE)));
        ScriptReply released = call(ScriptCall.release(new Command.Release(claim("catalogue", writer, 1)), 3));
        assertThat(released.more()).isTrue();
        assertThat(worst).isLessThan(MOST_STEPS);
        // No call continues that release, but any client's keep-alive does.
        Command.KeepAlive anyone = new Command.KeepAlive(other, 0);
        for (int calls = 0; call(ScriptCall.keepAlive(anyone)).more(); calls++) {
            assertThat(calls).isLessThan(many);
        }
        assertThat(worst).isLessThan(MOST_STEPS);
        List<ClaimRef> all = IntStream.range(1, many + 1)
                .mapToObj(i -> claim("catalogue", readers, i))
                .toList();
        long last = 0;
        for (Reply state :
                send(store, new Command.Poll(all), Reply.Polled.class).states()) {
            assertThat(state).isInstanceOf(Reply.Granted.class);
            assertThat(((Reply.Granted) state).tokens().first()).isGreaterThan(last);
            last = ((Reply.Granted) state).tokens().last();
        }
    }
}
