package dev.holdfast.store.register.client;

import dev.holdfast.store.register.DeadHolder;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeadHolderTest {

    private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
    private final MemoryRegister server = new MemoryRegister(RegisterTraits.Clock.REVISIONS, micros::get);

    private RegisterStore connect() {
        return RegisterStore.over(server.connect());
    }

    @ParameterizedTest(name = "of {0} others with {1} permits each")
    @CsvSource({"1,17", "20,1", "150,1"})
    void isNoticedBehindTheOthers(int sessions, int permitsEach) throws Exception {
        try (RegisterStore living = connect();
                RegisterStore waiting = connect()) {
            DeadHolder.isNoticed(living, waiting, connect(), sessions, permitsEach, () -> {
                micros.addAndGet(100_000);
                server.expire();
            });
        }
    }
}
