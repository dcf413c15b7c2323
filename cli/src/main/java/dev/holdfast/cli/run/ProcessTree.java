package dev.holdfast.cli.run;

import dev.holdfast.store.sqlite.process.ProcFs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * A command and all that it started, also what has left its parents.
 *
 * <p>A process belongs to the tree if it was seen below one that does, or if its environment carries the mark that the
 * command was started with. The second finds those that put themselves under the init process before they were seen;
 * the first finds those that cleaned their environment or are not ours to read. What does both unseen is not found, and
 * where there is no {@code /proc} the mark finds nothing.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
final class ProcessTree {

    /**
     * The processes of this machine. Where there is no {@code /proc} callers go by what {@link ProcessHandle} knows.
     */
    static final ProcFs PROC = new ProcFs(ProcFs.ROOT);

    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long LAST_PAUSE_NANOS = 100_000_000;

    private final ProcessHandle root;
    private final String mark;

    /**
     * Members that were seen alive; guarded by this. A handle knows the start time, so a reused number is not a member.
     */
    private final Set<ProcessHandle> seen = new LinkedHashSet<>();

    private boolean sawAll; // whether the last look could tell of each process; guarded by this

    /**
     * Begins to follow a process.
     *
     * @param mark what the variable {@link ChildEnvironment#HOLD} of its environment lists, and that of nobody else
     */
    ProcessTree(ProcessHandle root, String mark) {
        this.root = root;
        this.mark = mark;
        seen.add(root);
    }

    /** The command itself. */
    ProcessHandle root() {
        return root;
    }

    /** The members that are alive, the command first. */
    synchronized List<ProcessHandle> alive() {
        noteDescendants();
        ProcFs.Marked marked = PROC.findMarked(ChildEnvironment.HOLD, mark, Integer.MAX_VALUE);
        sawAll = marked.isComplete() || !PROC.showsPrograms();
        marked.found().forEach(one -> ProcessHandle.of(one.pid()).ifPresent(this::note));
        seen.removeIf(member -> !isAlive(member));
        return new ArrayList<>(seen);
    }

    /** Takes note of the descendants; cheap enough to be done now and then while the command runs. */
    synchronized void look() {
        noteDescendants();
        seen.removeIf(member -> !isAlive(member) && !member.equals(root));
    }

    /**
     * Whether the whole tree is gone. Looks twice, since one that is being born while its parent ends may escape one
     * look.
     */
    boolean isGone() {
        if (!sawNone()) {
            return false;
        }
        return sawNone();
    }

    private synchronized boolean sawNone() {
        return alive().isEmpty() && sawAll;
    }

    /**
     * Sends a signal to the command, which decides what becomes of what it started; once it is gone, to every member.
     *
     * @param name without SIG
     */
    void signal(String name) {
        List<ProcessHandle> receivers = isAlive(root) ? List.of(root) : alive();
        for (ProcessHandle receiver : receivers) {
            if (name.equals("TERM")) {
                receiver.destroy();
            } else {
                kill(name, receiver.pid());
            }
        }
    }

    /** Sends TERM to every member. */
    void terminate() {
        for (ProcessHandle member : alive()) {
            member.destroy();
        }
    }

    /**
     * Sends KILL to every member until none is left, new ones included.
     *
     * @param patienceNanos how long to go on
     * @return whether all are gone; if not, they are not ours to kill, or hang in the kernel
     */
    boolean kill(long patienceNanos) {
        long start = System.nanoTime();
        for (long pause = FIRST_PAUSE_NANOS; ; pause = Math.min(2 * pause, LAST_PAUSE_NANOS)) {
            List<ProcessHandle> members = alive();
            if (members.isEmpty() && isGone()) {
                return true;
            }
            for (ProcessHandle member : members) {
                member.destroyForcibly();
            }
            if (System.nanoTime() - start > patienceNanos) {
                return isGone();
            }
            LockSupport.parkNanos(this, pause);
        }
    }

    /** Java can send TERM and KILL only; every POSIX shell can send the rest, without a program of its own. */
    private static void kill(String signal, long pid) {
        try {
            // A failure means that the process has just ended, or is not ours.
            new ProcessBuilder("/bin/sh", "-c", "kill -s \"$1\" \"$2\"", "sh", signal, Long.toString(pid))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException("Can't send " + signal, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * One look at all processes for the command, and one more for each member that is no longer below it: mostly none.
     */
    private void noteDescendants() {
        Set<ProcessHandle> below = new HashSet<>();
        for (ProcessHandle member : new ArrayList<>(seen)) {
            if (!below.contains(member) && isAlive(member)) {
                member.descendants().forEach(descendant -> {
                    below.add(descendant);
                    note(descendant);
                });
            }
        }
    }

    private void note(ProcessHandle process) {
        if (process.pid() != ProcessHandle.current().pid() && isAlive(process)) {
            seen.add(process);
        }
    }

    private static boolean isAlive(ProcessHandle process) {
        return process.isAlive() && !PROC.isZombie(process.pid());
    }
}
