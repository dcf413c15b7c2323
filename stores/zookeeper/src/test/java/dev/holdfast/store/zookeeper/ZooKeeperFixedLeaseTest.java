package dev.holdfast.store.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.MostlyWaits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Fixed leases of a client that knows the time of the leader from an answer that was late. */
@Tag("server")
class ZooKeeperFixedLeaseTest {

    private static final Duration LONG = Duration.ofMinutes(5);

    private final String root = ZooKeeperUnderTest.newRoot();
    private final FaultProxy network = FaultProxy.to(ZooKeeperUnderTest.server().port());
    private final Holdfast late = client("127.0.0.1:" + network.port());
    private final Holdfast prompt = client(ZooKeeperUnderTest.server().connectString());

    private Holdfast client(String servers) {
        return Holdfast.builder(ZooKeeperUnderTest.patient(ZooKeeperStore.builder(servers))
                        .root(root)
                        .open())
                .sessionTtl(LONG)
                .storeTimeout(Duration.ofSeconds(20))
                .build();
    }

    @BeforeEach
    void open() throws InterruptedException {
        late.lock("opens").acquire().close();
        prompt.lock("opens").acquire().close();
    }

    @AfterEach
    void close() {
        late.close();
        prompt.close();
        network.close();
    }

    /** Delays the newest answer that has the time. */
    private void learnTheTimeLate(int delayMillis) throws InterruptedException {
        Hold hold = late.lock("late").acquire();
        network.delay(Duration.ofMillis(delayMillis));
        hold.close();
        network.heal();
    }

    /** Makes another client wait for the lock, and returns whether both had it. */
    private boolean areTwo(Hold hold) throws Exception {
        CompletableFuture<Boolean> areTwo = new CompletableFuture<>();
        prompt.lock("fixed").acquireAsync().whenComplete((next, failure) -> areTwo.complete(hold.isHeld()));
        return areTwo.get(1, TimeUnit.MINUTES);
    }

    @ParameterizedTest
    @CsvSource({"1500, 1000", "2500, 2000"})
    @MostlyWaits
    void grantLastsAsLongAsItsHolderCounts(int delayMillis, int leaseMillis) throws Exception {
        AcquireOptions options = AcquireOptions.defaults().withFixedLease(Duration.ofMillis(leaseMillis));
        learnTheTimeLate(delayMillis);
        Hold hold = late.lock("fixed").acquire(options);
        assertThat(hold.isHeld()).isTrue();
        assertThat(areTwo(hold)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"1500, 1000", "2500, 2000"})
    @MostlyWaits
    void extensionLastsAsLongAsItsHolderCounts(int delayMillis, int leaseMillis) throws Exception {
        Hold hold = late.lock("fixed").acquire(AcquireOptions.defaults().withFixedLease(LONG));
        learnTheTimeLate(delayMillis);
        hold.extend(Duration.ofMillis(leaseMillis));
        assertThat(hold.isHeld()).isTrue();
        assertThat(areTwo(hold)).isFalse();
    }
}
