package dev.holdfast.store.sqlite.process;

/**
 * The content of {@code /proc/PID/stat}. Fields are parsed on use, because a system that imitates Linux may have fewer:
 * a missing one throws an {@link IndexOutOfBoundsException}, and an invalid one a {@link NumberFormatException}.
 */
final class ProcessStat {

    // Positions after the name.
    private static final int STATE = 0;
    private static final int GROUP = 2;
    private static final int TERMINAL_GROUP = 5;
    private static final int FLAGS = 6;
    private static final int THREADS = 17;
    private static final int STARTED = 19;
    private static final int CODE_END = 24;
    private static final int ENVIRONMENT_START = 47;
    private static final int ENVIRONMENT_END = 48;

    // Kernel flags of processes that no longer have an environment, or never had one.
    private static final long EXITING = 0x4;
    private static final long KERNEL_THREAD = 0x200000;

    private final String[] fields;

    /** The second field, the name in parentheses, may contain any characters, even parentheses and blanks. */
    ProcessStat(String line) {
        this.fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
    }

    /** When it started, in ticks since the boot. */
    long started() {
        return Long.parseLong(fields[STARTED]);
    }

    /** Whether it is a zombie without other threads, so that it runs nothing. */
    boolean hasEnded() {
        boolean isZombie = fields[STATE].equals("Z") || fields[STATE].equals("X");
        return isZombie && Long.parseLong(fields[THREADS]) <= 1;
    }

    /** Whether it is a thread of the kernel, which has no environment. */
    boolean isKernelThread() {
        return (Long.parseLong(fields[FLAGS]) & KERNEL_THREAD) != 0;
    }

    boolean isInGroupOf(ProcessStat other) {
        return fields[GROUP].equals(other.fields[GROUP]);
    }

    /** Whether its group receives the signals of its terminal's keyboard. */
    boolean isInForeground() {
        return fields[GROUP].equals(fields[TERMINAL_GROUP]);
    }

    /** Whether the system shows the memory bounds of its program. */
    boolean showsProgram() {
        return !fields[CODE_END].equals("0");
    }

    /**
     * Whether its program may be being replaced at this moment: the new one gets its memory first, then its
     * environment, and then the bounds of its code are set.
     */
    boolean mayBeBetweenPrograms() {
        boolean isKnownToBeEmpty = showsProgram() && fields[ENVIRONMENT_START].equals(fields[ENVIRONMENT_END]);
        return (Long.parseLong(fields[FLAGS]) & (EXITING | KERNEL_THREAD)) == 0 && !isKnownToBeEmpty;
    }
}
