package dev.holdfast.store.redis.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.redis.script.BucketLayout;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a cluster says of itself, and where a name belongs in it. */
class SlotsTest {

    private static final Slots.Place ASKED = new Slots.Place("10.0.0.9", 6379);
    private static final BucketLayout LAYOUT = new BucketLayout("holdfast", 1_024);

    private static List<Object> node(String host, long port) {
        return List.of(host.getBytes(StandardCharsets.UTF_8), port, "id".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void primariesAndReplicasAreRead() {
        Slots slots = Slots.read(
                List.of(
                        List.of(0L, 5_000L, node("10.0.0.1", 7_000), node("10.0.0.2", 7_001)),
                        List.of(5_002L, 16_383L, node("", 7_002), node("?", 7_003))),
                ASKED);
        assertThat(slots.primaryOf(0)).isEqualTo(new Slots.Place("10.0.0.1", 7_000));
        assertThat(slots.primaryOf(5_000)).isEqualTo(new Slots.Place("10.0.0.1", 7_000));
        assertThat(slots.primaryOf(5_001)).isNull();
        assertThat(slots.primaryOf(16_383)).isEqualTo(new Slots.Place("10.0.0.9", 7_002));
        assertThat(slots.nodes())
                .containsExactlyInAnyOrder(
                        new Slots.Place("10.0.0.1", 7_000),
                        new Slots.Place("10.0.0.2", 7_001),
                        new Slots.Place("10.0.0.9", 7_002));
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (Object nonsense : List.of("slots", List.of(), List.of(0L, 1L), List.of(0L, 1L, List.of()))) {
            assertThatThrownBy(() -> Slots.read(List.of(nonsense), ASKED)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static Redirection of(String words) {
        return Redirection.of(new RedisCommandExecutionException(words));
    }

    @Test
    void redirectionsAreRead() {
        assertThat(of("MOVED 3999 127.0.0.1:6381"))
                .isEqualTo(new Redirection(Redirection.Kind.MOVED, new Slots.Place("127.0.0.1", 6_381)));
        assertThat(of("ASK 3999 ::1:6381"))
                .isEqualTo(new Redirection(Redirection.Kind.ASK, new Slots.Place("::1", 6_381)));
        assertThat(of("MOVED 3999 :6381"))
                .isEqualTo(new Redirection(Redirection.Kind.MOVED, new Slots.Place("", 6_381)));
        assertThat(of("TRYAGAIN Multiple keys request during rehashing of slot"))
                .isEqualTo(new Redirection(Redirection.Kind.LATER, null));
        assertThat(of("CLUSTERDOWN The cluster is down")).isEqualTo(new Redirection(Redirection.Kind.LATER, null));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ERR no", "MOVED 1", "MOVED 1 host", "MOVED 1 host:port", "READONLY You can't write", ""})
    void otherFailuresRedirectNowhere(String words) {
        assertThat(of(words)).isNull();
        assertThat(Redirection.of(new IllegalStateException("MOVED 3999 127.0.0.1:6381")))
                .isNull();
    }

    @Test
    void allKeysAndChannelsOfANameHaveOneSlot() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 2_000; i++) {
            String text = random.ints(1 + random.nextInt(40), 1, 0xd800)
                    .mapToObj(Character::toString)
                    .collect(Collectors.joining("", "n", random.nextBoolean() ? "{" : "}"));
            ResourceName name = new ResourceName(text);
            int bucket = LAYOUT.bucketOf(name);
            String channel = LAYOUT.channel(bucket, BucketLayout.sharded("0123456789abcdef"));
            assertThat(Arrays.stream(LAYOUT.keys(bucket)).map(SlotHash::getSlot).distinct())
                    .containsExactly(SlotHash.getSlot(channel));
        }
    }

    @Test
    void sessionTellsItsBucket() {
        SplittableRandom random = new SplittableRandom(1);
        for (int bucket = 0; bucket < 1_024; bucket++) {
            String id = "1795263828705124." + LAYOUT.nonce(random.nextLong(), bucket);
            assertThat(LAYOUT.bucketOf(new SessionId(id))).isEqualTo(bucket);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "1.2", "1.2.x", "1.2.99999", "1.2.-1", "..", "1.2."})
    void idThatIsNotOursIsInTheFirstBucket(String id) {
        assertThat(LAYOUT.bucketOf(new SessionId(id))).isZero();
    }
}
