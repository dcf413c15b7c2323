package dev.holdfast.store.sqlite;

import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.sqlite.process.HostIdentity;

/** The clock that all processes of one host share. */
final class HostClock {

    private HostClock() {}

    /** The clock since the boot if there is one, otherwise the time of day. */
    static StoreClock of(HostIdentity host) {
        return host.hasBootClock() ? new BootClock(host.monotonicOffsetNanos()) : new WallClock();
    }

    /** Runs steadily since the boot of the host, equal in all its processes, and stops while the host is suspended. */
    private record BootClock(long offsetNanos) implements StoreClock {
        @Override
        public long nowMicros() {
            return (SystemClock.nanoTime() - offsetNanos) / 1_000;
        }

        @Override
        public long unixMicros() {
            return SystemClock.unixMicros();
        }
    }

    /** Jumps when the system's time is set, and leases end early or late by as much. */
    private record WallClock() implements StoreClock {
        @Override
        public long nowMicros() {
            return SystemClock.unixMicros();
        }

        @Override
        public long unixMicros() {
            return SystemClock.unixMicros();
        }
    }
}
