package dev.holdfast.cli.run;

import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import sun.misc.Signal;

/**
 * Handles the signals that this process receives.
 *
 * <p>Before the command runs, INT, TERM and HUP end the wait for the lock. While it runs, they go to the command, as do
 * USR1 and USR2, and the command decides; the lock is released when it has ended. A second INT or TERM kills the
 * command with all that it started. Later, while the lock is released, they have no effect, except that a second one
 * ends this process.
 *
 * <p>The terminal sends Ctrl-C to its whole foreground group, so it reaches the command directly if both are in that
 * group. It is not sent again then, and only a double press within a second counts as a second INT, since interactive
 * programs handle single ones all the time.
 *
 * <p>QUIT can't be handled: the JVM reserves it for thread dumps. A signal that was ignored when this process started
 * (HUP under nohup) stays ignored.
 */
final class SignalRelay {

    private static final List<String> RELAYED = List.of("INT", "TERM", "HUP", "USR1", "USR2");
    private static final long DOUBLE_PRESS_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long KILL_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Console console;
    private final Thread waiter;

    // Guarded by this.
    private State state = State.WAITING;
    private int stoppedBy; // the number of the signal that ended the wait for the lock, or 0
    private @Nullable ProcessTree tree;
    private final List<String> early = new ArrayList<>(); // received while the command was being started
    private int stops; // INT and TERM passed on while the command ran, or received after its end
    private boolean pressed;
    private long pressedNanos;

    private enum State {
        WAITING,
        RUNNING,
        ENDING
    }

    /**
     * A relay that receives nothing yet.
     *
     * @param waiter the thread that waits for the lock; it is interrupted when a signal ends the wait
     */
    SignalRelay(Console console, Thread waiter) {
        this.console = console;
        this.waiter = waiter;
    }

    /** Begins to receive signals. */
    // There is no other way to handle signals, and jdk.unsupported stays until there is one.
    @SuppressWarnings("sunapi")
    void install() {
        for (String name : RELAYED) {
            try {
                Signal.handle(new Signal(name), signal -> receive(signal.getName(), signal.getNumber()));
            } catch (IllegalArgumentException e) {
                // The JVM reserves it or the system has none of that name: the default action stays.
                console.sayIfVerbose(
                        "signal " + name + " can't be passed on: " + Printable.escape(String.valueOf(e.getMessage())));
            }
        }
    }

    /** The number of the signal that ended the wait for the lock, or 0. */
    synchronized int stoppedBy() {
        return stoppedBy;
    }

    /**
     * Directs signals to the command, which is about to be started.
     *
     * @return 0, or the number of a signal that came before: then the command must not be started
     */
    synchronized int beginRun() {
        if (stoppedBy == 0) {
            state = State.RUNNING;
        }
        return stoppedBy;
    }

    /**
     * Passes on what came while the command was being started. The command may get a Ctrl-C twice, which is better than
     * not at all.
     */
    void started(ProcessTree command) {
        List<String> late;
        synchronized (this) {
            tree = command;
            late = List.copyOf(early);
            early.clear();
        }
        for (String name : late) {
            command.signal(name);
        }
    }

    /** Whether an INT or TERM was passed on to the command. */
    synchronized boolean hasPassedOnStop() {
        return stops > 0;
    }

    /** The command has ended: from now on a second INT or TERM ends this process. */
    synchronized void ended() {
        state = State.ENDING;
        tree = null;
        stops = 0;
    }

    /** Called by the JVM's signal handler, on a thread of the JVM. */
    void receive(String name, int number) {
        boolean isStop = name.equals("INT") || name.equals("TERM");
        ProcessTree command;
        boolean kill;
        synchronized (this) {
            if (state == State.WAITING) {
                receiveWaiting(isStop, name.equals("HUP"), number);
                return;
            }
            if (state == State.ENDING) {
                if (isStop && ++stops > 1) {
                    halt(number);
                }
                return;
            }
            command = tree;
            if (command != null
                    && name.equals("INT")
                    && ProcessTree.PROC.sharesForeground(command.root().pid())) {
                if (!isDoublePress()) {
                    return;
                }
                kill = true;
            } else {
                kill = isStop && ++stops > 1;
            }
            if (command == null) {
                early.add(name);
                return;
            }
        }
        if (kill) {
            console.say("second " + name + ": killing the command and its descendants");
            boolean isDone = command.kill(KILL_TIMEOUT_NANOS);
            if (!isDone) {
                console.say("still running, and can't be killed by holdfast: " + ProcessText.list(command.alive()));
            }
        } else {
            command.signal(name);
        }
    }

    /** Called under the lock: either {@link #beginRun()} returns the signal, or there is no interrupt. */
    private void receiveWaiting(boolean isStop, boolean isHangup, int number) {
        if (stoppedBy != 0 && isStop) {
            halt(number);
        }
        if (isStop || isHangup) {
            stoppedBy = number;
            waiter.interrupt();
        }
    }

    private boolean isDoublePress() {
        long now = System.nanoTime();
        boolean isDouble = pressed && now - pressedNanos < DOUBLE_PRESS_NANOS;
        pressed = true;
        pressedNanos = now;
        return isDouble;
    }

    /** Ends this process at once. The lock ends with its lease, as after a crash. */
    private static void halt(int number) {
        Runtime.getRuntime().halt(ExitCode.SIGNAL_BASE + number);
    }
}
