package dev.holdfast.cli.run;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The options of {@code holdfast run}, for parsing, help and completion. */
public enum RunOption {
    STORE(
            "--store",
            null,
            "URI",
            "Where the locks are. Default: $HOLDFAST_STORE, else 'sqlite:', a file for you on this machine."),
    WAIT("--wait", "-w", "D", "Wait for the lock this long at the most; 0 tries once. Default: as long as it takes."),
    NONBLOCK("--nonblock", "-n", null, "Don't wait: the same as --wait 0."),
    SHARED(
            "--shared",
            null,
            null,
            "Hold the lock together with others who say --shared, while nobody does who says --exclusive."),
    EXCLUSIVE("--exclusive", null, null, "Hold a lock alone that others hold with --shared."),
    PERMITS(
            "--permits",
            null,
            "K/N",
            "Take K of N permits: together the commands that run have N at the most. All must say the same N."),
    LEASE(
            "--lease",
            null,
            "D",
            "How long the lock outlives this process. It is renewed every third of it, and survives an "
                    + "outage of the store of 42 % of it. Default: 30s."),
    ON_LOST(
            "--on-lost",
            null,
            "ACTION",
            "What to do when the lock can't be kept: 'term' sends TERM in time and KILL before the lease "
                    + "ends, 'kill' sends KILL, 'ignore' lets the command go on,"
                    + " 'exec:PROGRAM' runs PROGRAM in the place of TERM. Default: term."),
    GRACE(
            "--grace",
            null,
            "D",
            "How long the command gets between TERM and KILL; at most a third of the lease. Default: 5s, "
                    + "or a sixth of the lease if that is less."),
    LEFTOVERS(
            "--leftovers",
            null,
            "ACTION",
            "When the command has ended but processes that it started have not: 'wait' keeps the lock until "
                    + "they are gone, 'kill' ends them, 'ignore' releases all the same."
                    + " Default: wait."),
    CONFLICT_EXIT_CODE(
            "--conflict-exit-code", "-E", "N", "Exit code when the lock can't be had in time, 0 to 255. Default: 75."),
    NO_STDIN("--no-stdin", null, null, "Give the command an empty standard input."),
    VERBOSE("--verbose", null, null, "Tell on standard error what happens.");

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
