package com.example.adapter;

import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterAdapterRules;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

class OurAdapterTest extends RegisterAdapterRules {

    private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
    private final MemoryRegister server = new MemoryRegister(RegisterTraits.Clock.WALL, micros::get);

    @Override
    protected RegisterAdapter connect() {
        return new OurAdapter(server.connect());
    }

    @Override
    protected long requests() {
        return server.requests();
    }

    @Override
    protected void letTimePass(Duration time) {
        micros.addAndGet(time.toNanos() / 1_000);
        server.expire();
    }

    @Override
    protected long nanoTime() {
        return micros.get() * 1_000;
    }
}
