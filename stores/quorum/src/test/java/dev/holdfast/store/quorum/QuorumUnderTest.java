package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.store.memory.ReferenceStore;
import dev.holdfast.test.ManualEnvironment;
import dev.holdfast.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** Two quorums of the same reference stores, on a clock of the test's. */
final class QuorumUnderTest implements StoreUnderTest {

    private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
    private final ManualEnvironment time = new ManualEnvironment();
    private final List<ReferenceStore> members = new ArrayList<>();
    private final QuorumStore first;
    private final QuorumStore second;

    QuorumUnderTest(int count) {
        for (int i = 0; i < count; i++) {
            members.add(new ReferenceStore(micros::get));
        }
        first = open();
        second = open();
    }

    private QuorumStore open() {
        QuorumStore.Builder builder = QuorumStore.builder().environment(time).longestLease(Command.MAX_DURATION);
        members.forEach(member -> builder.member(member.connect()));
        return builder.open();
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
        return Optional.of(by -> {
            micros.addAndGet(by.toNanos() / 1_000);
            time.advance(by.isNegative() ? Duration.ZERO : by);
        });
    }

    @Override
    public void close() {
        first.close();
        second.close();
        time.close();
    }
}
