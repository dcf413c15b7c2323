package dev.holdfast.store.sqlite;

import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.store.ledger.runtime.SystemTime;
import dev.holdfast.store.sqlite.process.HostIdentity;

/** Clock that all processes of one machine have in common. */
final class HostClock {

    private HostClock() {}

    /** The clock since the boot where there is one, else the time of day. */
    static StoreClock of(HostIdentity machine) {
        return machine.hasBootClock() ? new BootClock(machine.monotonicOffsetNanos()) : new WallClock();
    }

    /**
     * Goes on steadily from the boot of the machine, the same for all its processes, and stands still while it is
     * suspended.
     */
    private record BootClock(long offsetNanos) implements StoreClock {
        @Override
        public long nowMicros() {
            return (SystemTime.nanoTime() - offsetNanos) / 1_000;
        }

        @Override
        public long unixMicros() {
            return SystemTime.unixMicros();
        }
    }

    /** Steps when the system's time is set, and leases end early or late by as much. */
    private record WallClock() implements StoreClock {
        @Override
        public long nowMicros() {
            return SystemTime.unixMicros();
        }

        @Override
        public long unixMicros() {
            return SystemTime.unixMicros();
        }
    }
}
