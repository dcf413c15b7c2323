package dev.holdfast.store.redis;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.redis.script.Script;
import dev.holdfast.testkit.StoreUnderTest;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** Two stores in a namespace of their own. */
final class RedisUnderTest implements StoreUnderTest {

    private static final AtomicInteger NAMESPACES = new AtomicInteger();

    /** The threads of all stores of the tests: to make and end them takes longer than a test. */
    static final ClientResources RESOURCES = ClientResources.create();

    private static final class Hand {
        private static final StatefulRedisConnection<String, String> CONNECTION =
                RedisClient.create(RESOURCES, TestServer.shared().uri()).connect();
    }

    private static final class User {
        static {
            Permissions.grant(TestServer.shared().server(), "tester", Permissions.SERVER, "test-*");
        }

        static RedisURI uri() {
            RedisURI uri = TestServer.shared().uri();
            uri.setAuthentication("tester", "change-me".toCharArray());
            return uri;
        }
    }

    private final String namespace = "test-" + NAMESPACES.incrementAndGet();
    private final boolean hasClock;
    private final RedisStore first;
    private final RedisStore second;

    /** By the server's own clock, as the user of the manual, who may do what locks need and no more. */
    static RedisUnderTest inRealTime() {
        return new RedisUnderTest(Script.COMMANDS, false);
    }

    /** By the clock that the test moves. */
    static RedisUnderTest onManualTime() {
        return new RedisUnderTest(onManualTime(Script.COMMANDS.text()), true);
    }

    /** By the clock that the test moves, and with every bound of the script so low that it is met all the time. */
    static RedisUnderTest inSmallSteps() {
        String ending = replaced(Script.COMMANDS.text(), "local SWEEP_LIMIT = 200", "local SWEEP_LIMIT = 1");
        String near = replaced(ending, "local ROOM = 1500", "local ROOM = 100");
        String few = replaced(near, "local FEW = 8", "local FEW = 0");
        String pages = replaced(few, "local PARTIES, SHOWN = 200, 100", "local PARTIES, SHOWN = 3, 100");
        return new RedisUnderTest(onManualTime(replaced(pages, "local REPAIR = 100", "local REPAIR = 1")), true);
    }

    private RedisUnderTest(Script script, boolean hasClock) {
        this.hasClock = hasClock;
        if (hasClock) {
            set(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));
        }
        this.first = open(script);
        this.second = open(script);
    }

    private RedisStore open(Script script) {
        // The manual clock is a key that the user of the manual has no business with.
        return TestServer.patient(
                        RedisStore.builder(hasClock ? TestServer.shared().uri() : User.uri()))
                .namespace(namespace)
                .script(script)
                .open();
    }

    /** The script, with a key where it asks the server for the time. */
    static Script onManualTime(String text) {
        return new Script(
                replaced(text, "local time = call('TIME')", "local time = { 0, call('GET', state .. 'clock') }"));
    }

    private static String replaced(String text, String what, String by) {
        if (!text.contains(what)) {
            throw new IllegalStateException("The script has no '" + what + "' any more");
        }
        return text.replace(what, by);
    }

    String namespace() {
        return namespace;
    }

    /** A key of the one bucket, by its letter. */
    String key(char letter) {
        return namespace + ":{0}:" + letter;
    }

    private String clockKey() {
        return namespace + ":{0}:hclock";
    }

    private void set(long micros) {
        Hand.CONNECTION.sync().set(clockKey(), Long.toString(micros));
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
    public Optional<ManualClock> clock() {
        return hasClock ? Optional.of(this::advance) : Optional.empty();
    }

    /** Sets the clock, forward or back. */
    void advance(Duration by) {
        Hand.CONNECTION.sync().incrby(clockKey(), by.toNanos() / 1_000);
    }

    @Override
    public Duration shortTtl() {
        return Duration.ofMillis(500);
    }

    /** The counter of a bucket is never forgotten, and nothing else of a name that is not in use is kept. */
    @Override
    public boolean forgetIdle() {
        return true;
    }

    @Override
    public boolean damage(ResourceName name) {
        Hand.CONNECTION.sync().hset(key('h'), name.value(), "rubbish");
        return true;
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }
}
