package dev.holdfast.store.sql;

import java.nio.file.Path;
import java.time.Instant;

/** The machine that this process really runs on, and its time: what the store takes from the system, it takes here. */
final class SystemMachine {

    /** Where Linux tells about processes. */
    static final Path PROC = Path.of("/proc");

    private SystemMachine() {}

    /** Looks at the machine. */
    static Machine look() {
        return Machine.of(PROC, System.nanoTime());
    }

    /** A clock for measuring how long something takes in this process. */
    static long nanoTime() {
        return System.nanoTime();
    }

    /** The clock that a machine's processes have in common. */
    static StoreClock clock(Machine machine) {
        return machine.hasBootClock() ? new BootClock(machine.monotonicOffsetNanos()) : new WallClock();
    }

    private static long wallMicros() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    }

    /**
     * Goes on steadily from the boot of the machine, the same for all its processes, and stands still while it is
     * suspended.
     */
    private record BootClock(long offsetNanos) implements StoreClock {
        @Override
        public long nowMicros() {
            return (System.nanoTime() - offsetNanos) / 1_000;
        }

        @Override
        public long unixMicros() {
            return wallMicros();
        }
    }

    /** Steps when the system's time is set, and leases end early or late by as much. */
    private record WallClock() implements StoreClock {
        @Override
        public long nowMicros() {
            return wallMicros();
        }

        @Override
        public long unixMicros() {
            return wallMicros();
        }
    }
}
