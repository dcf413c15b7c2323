package dev.holdfast.store.redis.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.ResourceName;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BucketLayoutTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 64, 1_024, 16_384})
    void allKeysOfABucketHaveOneSlotAndTheBucketsShareTheSlotsEvenly(int buckets) {
        BucketLayout layout = new BucketLayout("my.space:x-1", buckets);
        Set<String> keys = new HashSet<>();
        for (int bucket = 0; bucket < buckets; bucket++) {
            int slot = SlotHash.getSlot(layout.channel(bucket, "0123456789abcdef"));
            assertThat(slot / (SlotHash.SLOT_COUNT / buckets)).isEqualTo(bucket);
            for (byte[] key : layout.keys(bucket)) {
                assertThat(SlotHash.getSlot(key)).isEqualTo(slot);
                assertThat(keys.add(new String(key, StandardCharsets.US_ASCII))).isTrue();
            }
        }
        assertThat(keys).hasSize(3 * buckets);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 1_024, 16_384})
    void everyNameHasABucketAndTheyAreSpread(int buckets) {
        BucketLayout layout = new BucketLayout("holdfast", buckets);
        int[] names = new int[buckets];
        int each = 20;
        for (int i = 0; i < each * buckets; i++) {
            names[layout.bucketOf(new ResourceName("job/" + i))]++;
        }
        assertThat(Arrays.stream(names).max().orElseThrow()).isLessThan(5 * each);
        SplittableRandom random = new SplittableRandom(buckets);
        for (int i = 0; i < 10_000; i++) {
            StringBuilder name = new StringBuilder("x");
            for (int length = random.nextInt(40); length > 0; length--) {
                name.append((char) random.nextInt(0xd800));
            }
            assertThat(layout.bucketOf(new ResourceName(name.toString()))).isBetween(0, buckets - 1);
        }
    }

    /** Live data depends on it: this must never change. */
    @Test
    void layoutIsFixed() {
        BucketLayout single = new BucketLayout("holdfast", 1);
        assertThat(new String(single.keys(0)[0], StandardCharsets.US_ASCII)).isEqualTo("holdfast:{0}:h");
        BucketLayout many = new BucketLayout("holdfast", 1_024);
        assertThat(new String(many.keys(517)[2], StandardCharsets.US_ASCII)).isEqualTo("holdfast:{493}:o");
        assertThat(many.bucketOf(new ResourceName("orders/42"))).isEqualTo(336);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a{b", "a}b", "{}", "é", "a b", "a\n"})
    void namespaceThatWouldChangeTheLayoutIsRefused(String namespace) {
        assertThatThrownBy(() -> new BucketLayout(namespace, 1)).isInstanceOf(IllegalArgumentException.class);
    }
}
