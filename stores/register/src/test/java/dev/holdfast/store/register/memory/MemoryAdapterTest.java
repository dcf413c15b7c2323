package dev.holdfast.store.register.memory;

import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterAdapterRules;
import dev.holdfast.store.register.RegisterTraits;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Nested;

/** The register that other tests stand on keeps the contract, whichever clock it has. */
class MemoryAdapterTest {

    @Nested
    final class ThatTellsTheTime extends Rules {
        ThatTellsTheTime() {
            super(RegisterTraits.Clock.WALL);
        }
    }

    @Nested
    final class ThatNumbersItsWrites extends Rules {
        ThatNumbersItsWrites() {
            super(RegisterTraits.Clock.REVISIONS);
        }
    }

    abstract static class Rules extends RegisterAdapterRules {
        private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
        private final MemoryRegister server;

        Rules(RegisterTraits.Clock kind) {
            server = new MemoryRegister(kind, micros::get);
        }

        @Override
        protected RegisterAdapter connect() {
            return server.connect();
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
}
