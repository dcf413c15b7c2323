package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.local.KindPolicy.HandOver;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The policy of")
class KindPolicyTest {

    private static final StoreTraits PLAIN = StoreTraits.of("plain").build();
    private static final StoreTraits KNOWING =
            StoreTraits.of("knowing").with(Feature.KNOWN_WAITERS).build();

    @Test
    @DisplayName("a mutex has one grant, handed over in strict order only while no one waits at the store")
    void mutex() {
        KindPolicy mutex = KindPolicy.of(Kind.MUTEX);
        assertThat(mutex.handOver(1, PLAIN)).isEqualTo(HandOver.BUDGETED);
        assertThat(mutex.handOver(0, KNOWING)).isEqualTo(HandOver.UNAWAITED);
        assertThat(mutex.handOver(0, PLAIN)).isEqualTo(HandOver.NEVER);
        assertThat(mutex.precludesAnother(1, true)).isTrue();
        assertThat(mutex.hasSeveralGrants()).isFalse();
        assertThat(mutex.isShared()).isFalse();
        assertThat(mutex.hasReaders()).isFalse();
        assertThat(mutex.grantsPasses()).isFalse();
        assertThat(mutex.isBarging(Order.BARGING)).isFalse();
        assertThat(mutex.exceedsShares(2)).isFalse();
        assertThat(mutex.claimsMayBecomeUnwanted()).isFalse();
        assertThat(mutex.isCapacityDeclared()).isFalse();
    }

    @Test
    @DisplayName("a read-write lock shares one grant, beside which a reader apart from others may claim another")
    void readWrite() {
        KindPolicy both = KindPolicy.of(Kind.READ_WRITE);
        assertThat(both.handOver(0, PLAIN)).isEqualTo(HandOver.BUDGETED);
        assertThat(both.precludesAnother(2, true)).isTrue();
        assertThat(both.precludesAnother(1, true)).isFalse();
        assertThat(both.precludesAnother(1, false)).isTrue();
        assertThat(both.exceedsShares(1)).isFalse();
        assertThat(both.exceedsShares(2)).isTrue();
        assertThat(both.sharing(1, 2)).isEqualTo(Sharing.SHARED);
        assertThat(both.sharing(2, 2)).isEqualTo(Sharing.EXCLUSIVE);
    }

    @Test
    @DisplayName("a semaphore has several grants, and lets small requests pass only if it is barging")
    void semaphore() {
        KindPolicy semaphore = KindPolicy.of(Kind.SEMAPHORE);
        assertThat(semaphore.handOver(1, PLAIN)).isEqualTo(HandOver.BUDGETED);
        assertThat(semaphore.handOver(0, KNOWING)).isEqualTo(HandOver.NEVER);
        assertThat(semaphore.hasSeveralGrants()).isTrue();
        assertThat(semaphore.isBarging(Order.BARGING)).isTrue();
        assertThat(semaphore.isBarging(Order.FAIR)).isFalse();
        assertThat(semaphore.claimsMayBecomeUnwanted()).isTrue();
        assertThat(semaphore.isCapacityDeclared()).isTrue();
    }

    @Test
    @DisplayName("a latch has passes, and an election a grant of its own for each term")
    void latchAndElection() {
        KindPolicy latch = KindPolicy.of(Kind.LATCH);
        assertThat(latch.grantsPasses()).isTrue();
        assertThat(latch.hasSeveralGrants()).isTrue();
        assertThat(latch.handOver(0, PLAIN)).isEqualTo(HandOver.BUDGETED);
        assertThat(KindPolicy.of(Kind.ELECTION).handOver(1, KNOWING)).isEqualTo(HandOver.NEVER);
        assertThat(KindPolicy.of(Kind.TASK)).isSameAs(KindPolicy.of(Kind.MUTEX));
    }
}
