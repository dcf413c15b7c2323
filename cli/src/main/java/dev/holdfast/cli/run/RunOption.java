package dev.holdfast.cli.run;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The options of {@code holdfast run}, for parsing, help and completion. */
public enum RunOption {
    STORE(
            "--store",
            null,
            "URI",
            "The store that keeps the locks. Default: $HOLDFAST_STORE, otherwise that of the configuration "
                    + "file, otherwise 'sqlite:', a per-user file on this machine."),
    WAIT("--wait", "-w", "D", "Wait at most this long for the lock; 0 tries once. Default: no limit."),
    NONBLOCK("--nonblock", "-n", null, "Don't wait; same as --wait 0."),
    SHARED(
            "--shared",
            "-s",
            null,
            "Share the lock with other commands that use --shared, but not with one that uses --exclusive."),
    EXCLUSIVE("--exclusive", "-x", null, "Hold the lock alone, where other commands use --shared."),
    PERMITS(
            "--permits",
            null,
            "K/N",
            "Take K of N permits: running commands hold at most N in total. All must use the same N."),
    MESSAGE(
            "--message",
            "-m",
            "TEXT",
            "Say what the lock is for: others see it with the holder. One line, at most 256 bytes."),
    LEASE(
            "--lease",
            null,
            "D",
            "How long the lock outlives this process. The lease is renewed three times per period, "
                    + "and survives a store outage of 42 % of the period. Default: 30s."),
    ON_LOST(
            "--on-lost",
            null,
            "ACTION",
            "What to do when the lock can't be kept: 'term' sends TERM early enough to send KILL "
                    + "before the lease expires, 'kill' sends KILL, 'ignore' lets the command continue, "
                    + "'exec:PROGRAM' runs PROGRAM instead of sending TERM. Default: term."),
    GRACE(
            "--grace",
            null,
            "D",
            "Time between TERM and KILL; at most a third of the lease. Default: 5s, or a sixth of "
                    + "the lease if that is shorter."),
    LEFTOVERS(
            "--leftovers",
            null,
            "ACTION",
            "What to do when the command has ended but its descendants have not: 'wait' keeps the "
                    + "lock until they end, 'kill' kills them, 'ignore' releases the lock anyway. Default: "
                    + "wait."),
    CONFLICT_EXIT_CODE(
            "--conflict-exit-code",
            "-E",
            "N",
            "Exit code when the lock is not granted in time, 0 to 255. Default: 75."),
    COMMAND("--command", "-c", "TEXT", "Run TEXT in a shell, as with flock: the same as -- sh -c TEXT."),
    NO_STDIN("--no-stdin", null, null, "Give the command an empty standard input."),
    VERBOSE("--verbose", null, null, "Print what happens to standard error.");

    private final String longName;
    private final @Nullable String shortName;
    private final @Nullable String valueLabel;
    private final String description;

    RunOption(String longName, @Nullable String shortName, @Nullable String valueLabel, String description) {
        this.longName = longName;
        this.shortName = shortName;
        this.valueLabel = valueLabel;
        this.description = description;
    }

    /** All names, the long one first. */
    public List<String> names() {
        return shortName == null ? List.of(longName) : List.of(longName, shortName);
    }

    public String longName() {
        return longName;
    }

    public boolean takesValue() {
        return valueLabel != null;
    }

    /** The name of its value in the help; empty for a flag. */
    public String valueLabel() {
        return valueLabel == null ? "" : valueLabel;
    }

    public String description() {
        return description;
    }

    boolean isNamed(String name) {
        return name.equals(longName) || name.equals(shortName);
    }
}
