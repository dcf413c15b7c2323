package dev.holdfast.store.sqlite.process;

/**
 * What {@code /proc/PID/stat} says of a process. A field is read when it is asked for, since a system that imitates
 * Linux may have fewer: then an {@link IndexOutOfBoundsException} is thrown, and a {@link NumberFormatException} if it
 * is no number.
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

    // Flags of the kernel for those that have no environment any more, or never had one.
    private static final long EXITING = 0x4;
    private static final long KERNEL_THREAD = 0x200000;

    private final String[] fields;

    /** The second field, the name in parentheses, may hold anything, parentheses and blanks too. */
    ProcessStat(String line) {
        this.fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
    }

    /** When it started, in ticks since the boot. */
    long started() {
        return Long.parseLong(fields[STARTED]);
    }

    /** Whether nobody has waited for it yet, and it has no thread left: it can't do anything any more. */
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

    /** Whether the signals of its terminal's keyboard go to its group. */
    boolean isInForeground() {
        return fields[GROUP].equals(fields[TERMINAL_GROUP]);
    }

    /** Whether the system tells the bounds of its program here. */
    boolean showsProgram() {
        return !fields[CODE_END].equals("0");
    }

    /**
     * Whether its program may be being replaced at this moment: the new one has its memory before it has its
     * environment, and that before the bounds of its code are known.
     */
    boolean mayBeBetweenPrograms() {
        boolean isKnownToBeEmpty = showsProgram() && fields[ENVIRONMENT_START].equals(fields[ENVIRONMENT_END]);
        return (Long.parseLong(fields[FLAGS]) & (EXITING | KERNEL_THREAD)) == 0 && !isKnownToBeEmpty;
    }
}
