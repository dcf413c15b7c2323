package dev.holdfast.store.register.client;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.memory.MemoryRegister;
import dev.holdfast.testkit.StoreUnderTest;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** Two stores on one register in memory, on a clock that the kit moves. */
final class RegisterUnderTest implements StoreUnderTest {

    private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
    private final SystemTime timers = new SystemTime("register-test-timer");
    private final MemoryRegister server;
    private final RegisterStore first;
    private final RegisterStore second;

    RegisterUnderTest(RegisterTraits.Clock kind) {
        server = new MemoryRegister(kind, micros::get);
        first = RegisterStore.over(server.connect(), new ManualTime(micros, timers));
        second = RegisterStore.over(server.connect(), new ManualTime(micros, timers));
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
            server.expire();
        });
    }

    @Override
    public boolean forgetIdle() {
        // What it finds idle and unchanged the second time it removes; what is ahead, the third time.
        for (int i = 0; i < 4; i++) {
            first.sweep().toCompletableFuture().join();
        }
        return true;
    }

    @Override
    public boolean damage(ResourceName name) {
        server.damage(name);
        return true;
    }

    @Override
    public void close() {
        first.close();
        second.close();
        timers.close();
    }
}
