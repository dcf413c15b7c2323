package com.example.adapter;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.spi.LockStore;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class OurStoresTest {

    @Test
    void excludeEachOther() throws InterruptedException {
        MemoryRegister server = new MemoryRegister(
                RegisterTraits.Clock.WALL, () -> TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()));
        try (LockStore one = OurStores.open(server.connect());
                LockStore two = OurStores.open(server.connect());
                Holdfast first = Holdfast.builder(one).build();
                Holdfast second = Holdfast.builder(two).build();
                Hold hold = first.lock("nightly-report").acquire()) {
            assertTrue(hold.isHeld());
            assertTrue(second.lock("nightly-report").tryAcquire().isEmpty());
        }
    }
}
