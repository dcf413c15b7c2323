package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockOptions;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Settings")
class BuilderTest {

    private static final List<Duration> SENSELESS = List.of(
            Duration.ZERO,
            Duration.ofNanos(-1),
            Duration.ofSeconds(Long.MIN_VALUE),
            Duration.ofDays(36_526),
            Duration.ofSeconds(Long.MAX_VALUE, 999_999_999));

    private final Holdfast.Builder builder = Holdfast.builder("memory:");

    @Test
    @DisplayName("that contradict each other are refused with both values in the text")
    void contradiction() {
        builder.sessionTtl(Duration.ofSeconds(30)).keepAliveEvery(Duration.ofSeconds(20));

        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("keepAliveEvery", "20 s", "sessionTtl", "30 s", "a third");
        assertThatThrownBy(builder::buildAsync).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("that just fit are taken, in any order")
    void fit() throws Exception {
        builder.keepAliveEvery(Duration.ofSeconds(20)).sessionTtl(Duration.ofSeconds(60));
        try (Holdfast holdfast = builder.build();
                Hold hold = holdfast.lock("ledger").acquire()) {
            assertThat(hold.effectiveLease()).isEqualTo(Duration.ofSeconds(60));
        }
        try (Holdfast holdfast =
                Holdfast.builder("memory:").buildAsync().toCompletableFuture().get(60, TimeUnit.SECONDS)) {
            assertThat(holdfast.lock("ledger").tryLock()).isTrue();
        }
    }

    @Test
    @DisplayName("a prefix stands before every name, in all that is told of it too")
    void namePrefix() throws Exception {
        StoreUri uri = StoreUri.parse("memory:");
        try (LockStore store = StoreProvider.of(uri).open(uri);
                Holdfast orders = Holdfast.builder(store).namePrefix("orders:").build();
                Holdfast stock = Holdfast.builder(store).namePrefix("stock:").build();
                Holdfast all = Holdfast.builder(store).build();
                Hold hold = orders.lock("ledger").acquire()) {
            assertThat(hold.name()).isEqualTo("orders:ledger");
            assertThat(stock.lock("ledger").tryAcquire()).isPresent();
            assertThat(all.lock("orders:ledger").tryAcquire()).isEmpty();
            assertThat(orders.inspect("orders:ledger")).isPresent();
            assertThat(orders.lockAll("a", "b").acquire().names()).containsExactly("orders:a", "orders:b");
            assertThat(orders.election("e").toString() + orders.latch("l") + orders.task("t"))
                    .contains("orders:e", "orders:l", "orders:t");
            assertThatThrownBy(() -> orders.lock(" ")).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> orders.lock("x".repeat(510)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("517");
        }
        assertThatThrownBy(() -> builder.namePrefix("x".repeat(512))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("a ttl under 200 ms is refused, 200 ms is taken, and the text names the minimum")
    void shortestTtl() throws Exception {
        assertThatThrownBy(() -> builder.sessionTtl(Duration.ofMillis(200).minusNanos(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("sessionTtl", "200 ms", "199.999999 ms");
        try (Holdfast holdfast = builder.sessionTtl(Duration.ofMillis(200)).build()) {
            // It may be lost by the time of the check; the effective lease is the same.
            Hold hold = holdfast.lock("ledger").acquire();
            assertThat(hold.effectiveLease()).isEqualTo(Duration.ofMillis(200));
        }
    }

    @Test
    @DisplayName("a lease under 200 ms is refused too, down to a nanosecond, and the text names the minimum")
    void shortestLeases() {
        AcquireOptions defaults = AcquireOptions.defaults();
        for (Duration tooShort : List.of(Duration.ofMillis(200).minusNanos(1), Duration.ofNanos(1))) {
            assertThatThrownBy(() -> defaults.withFixedLease(tooShort))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("fixedLease", "200 ms", DurationFormat.format(tooShort));
            assertThatThrownBy(() -> defaults.withMaxHold(tooShort))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("maxHold", "200 ms", DurationFormat.format(tooShort));
        }
        assertThat(defaults.withFixedLease(Duration.ofMillis(200)).fixedLease()).contains(Duration.ofMillis(200));
    }

    @Test
    @DisplayName("durations that make no sense are refused when they are given, by name")
    void senselessDurations() {
        for (Duration senseless : SENSELESS) {
            assertRefused("sessionTtl", senseless, () -> builder.sessionTtl(senseless));
            assertRefused("keepAliveEvery", senseless, () -> builder.keepAliveEvery(senseless));
            assertRefused("storeTimeout", senseless, () -> builder.storeTimeout(senseless));
            if (!senseless.isZero()) {
                assertRefused("cohortBudget", senseless, () -> builder.cohortBudget(senseless));
            }
            assertRefused(
                    "fixedLease", senseless, () -> AcquireOptions.defaults().withFixedLease(senseless));
            assertRefused("maxHold", senseless, () -> AcquireOptions.defaults().withMaxHold(senseless));
        }
    }

    private static void assertRefused(
            String name, Duration value, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(name, DurationFormat.format(value));
    }

    @Test
    @DisplayName("a fixed lease and a maximum hold time exclude each other, whichever comes first")
    void leaseAndMaxHold() {
        Duration one = Duration.ofSeconds(1);
        Duration two = Duration.ofSeconds(2);
        assertThatThrownBy(() -> AcquireOptions.defaults().withFixedLease(one).withMaxHold(two))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("1 s", "2 s");
        assertThatThrownBy(() -> AcquireOptions.defaults().withMaxHold(one).withFixedLease(two))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("1 s", "2 s");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\nb", "a\rb", "tab\t", "\u0000", "\u007f", "\u0085", "\u001b[31m"})
    @DisplayName("a label with control characters is refused, and not repeated in the text")
    void labelWithControlCharacters(String label) {
        assertThatThrownBy(() -> builder.label(label))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(e -> assertThat(e.getMessage().chars().noneMatch(Character::isISOControl))
                        .isTrue());
    }

    @Test
    @DisplayName("a label of 128 characters or 256 bytes is taken, a longer one is refused when it is given")
    void longLabel() {
        for (String longest : List.of("x".repeat(128), "é".repeat(128), "語".repeat(85), "𝄞".repeat(64))) {
            try (Holdfast holdfast = Holdfast.builder("memory:").label(longest).build()) {
                assertThat(holdfast.lock("ledger").tryLock()).isTrue();
            }
            assertThatThrownBy(() -> builder.label(longest + longest.substring(0, 2)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("128", "256");
        }
    }

    @Test
    @DisplayName("null is refused where it is given")
    void nothing() {
        assertThatThrownBy(() -> Holdfast.connect(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> builder.sessionTtl(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> builder.label(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> builder.environment(null)).isInstanceOf(NullPointerException.class);
        try (Holdfast holdfast = builder.build()) {
            assertThatThrownBy(() -> holdfast.lock(null)).isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> holdfast.lock("ledger", null)).isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> holdfast.lock("ledger").acquire((Duration) null))
                    .isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> holdfast.lock("ledger").tryAcquire((AcquireOptions) null))
                    .isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> holdfast.lock("ledger").acquireAsync(null))
                    .isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> holdfast.lock("ledger").tryLock(1, null)).isInstanceOf(NullPointerException.class);
            assertThat(holdfast.lock("ledger", LockOptions.barging()).tryLock()).isTrue();
        }
    }

    @Test
    @DisplayName("options are values: each with() answers a copy")
    void optionsAreImmutable() {
        AcquireOptions base = AcquireOptions.defaults();
        AcquireOptions waiting = base.withMaxWait(Duration.ofSeconds(1));

        assertThat(base.maxWait()).isEmpty();
        assertThat(waiting.maxWait()).contains(Duration.ofSeconds(1));
        assertThat(waiting.withMaxHold(Duration.ofSeconds(2)).maxWait()).contains(Duration.ofSeconds(1));
        assertThat(waiting.toString()).contains("PT1S");
    }
}
