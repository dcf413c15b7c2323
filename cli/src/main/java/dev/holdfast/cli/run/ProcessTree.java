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
 * A command and all processes that it started, including those that have left their parents.
 *
 * <p>A process is a member if a scan found it below a member, or if its environment has the mark that the command was
 * started with. The mark finds processes that moved under the init process before a scan; the scan finds those that
 * cleaned their environment, or whose environment can't be read. A process that does both between two scans is not
 * found. Without {@code /proc} the mark finds nothing.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
final class ProcessTree {

    /**
     * The processes of this machine. Without {@code /proc} only {@link ProcessHandle} is used.
     */
    static final ProcFs PROC = new ProcFs(ProcFs.ROOT);

    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long LAST_PAUSE_NANOS = 100_000_000;

    private final ProcessHandle root;
    private final String mark;

    /**
     * Members that were found alive; guarded by this. A handle knows the start time, so that a reused pid is no member.
     */
    private final Set<ProcessHandle> seen = new LinkedHashSet<>();

    private boolean sawAll; // whether the last scan could check each process; guarded by this

    /**
     * A tree with one member.
     *
     * @param mark the entry in its variable {@link ChildEnvironment#HOLD} that no other command has
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

    /** Scans, and returns the members that are alive, the command first. */
    synchronized List<ProcessHandle> alive() {
        noteDescendants();
        ProcFs.Marked marked = PROC.findMarked(ChildEnvironment.HOLD, mark, Integer.MAX_VALUE);
        sawAll = marked.isComplete() || !PROC.showsPrograms();
        marked.found().forEach(one -> ProcessHandle.of(one.pid()).ifPresent(this::note));
        seen.removeIf(member -> !isAlive(member));
        return new ArrayList<>(seen);
    }

    /** Finds new descendants; cheap enough to repeat while the command runs. */
    synchronized void scan() {
        noteDescendants();
        seen.removeIf(member -> !isAlive(member) && !member.equals(root));
    }

    /**
     * Whether no member is left. Scans twice, since one scan can miss a process that starts while its parent ends.
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
     * Sends a signal to the command alone, which handles its children; after its end, to every member.
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
     * Sends KILL to every member, new ones included, until none is left.
     *
     * @return whether none is left; otherwise they belong to another user, or hang in the kernel
     */
    boolean kill(long timeoutNanos) {
        long start = System.nanoTime();
        for (long pause = FIRST_PAUSE_NANOS; ; pause = Math.min(2 * pause, LAST_PAUSE_NANOS)) {
            List<ProcessHandle> members = alive();
            if (members.isEmpty() && isGone()) {
                return true;
            }
            for (ProcessHandle member : members) {
                member.destroyForcibly();
            }
            if (System.nanoTime() - start > timeoutNanos) {
                return isGone();
            }
            LockSupport.parkNanos(this, pause);
        }
    }

    /** Java can send only TERM and KILL; every POSIX shell has a built-in command for the rest. */
    private static void kill(String signal, long pid) {
        try {
            // A failure means that the process has just ended, or belongs to another user.
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
     * Reads all processes once for the command, and again for each member that is no longer below it, usually none.
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
