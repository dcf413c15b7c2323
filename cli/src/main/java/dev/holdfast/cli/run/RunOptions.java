package dev.holdfast.cli.run;

import dev.holdfast.AcquireOptions;
import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.spi.ResourceName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The settings of one {@code holdfast run}, checked before anything is touched.
 *
 * @param store the store that was named on the command line, if one was
 * @param maxWait how long to wait for the lock; empty for no limit
 * @param share the part of the lock that the command wants
 * @param message what the lock is for; empty if that is not said
 * @param lease how long the lock lasts without renewal
 * @param lossPolicy what to do when the lock can't be kept
 * @param leftovers what to do about processes that outlive the command
 * @param conflictExitCode the exit code when others keep the lock
 * @param withStdin whether the command reads our standard input
 * @param verbose whether to report each step
 * @param name the lock
 * @param command the command and its arguments
 */
public record RunOptions(
        Optional<String> store,
        Optional<Duration> maxWait,
        Share share,
        Optional<String> message,
        Duration lease,
        LossPolicy lossPolicy,
        Leftovers leftovers,
        int conflictExitCode,
        boolean withStdin,
        boolean verbose,
        String name,
        List<String> command) {

    static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);
    static final Duration MIN_LEASE = Duration.ofMillis(200);
    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(5);

    /** What happens to processes that outlive the command. */
    enum Leftovers {
        WAIT,
        KILL,
        IGNORE
    }

    /**
     * Checks a command line.
     *
     * @throws CliException (usage) with the first mistake
     */
    public static RunOptions of(RunArguments given) {
        String name = checkedName(given.name());
        Optional<Duration> maxWait = maxWait(given);
        Share share = Share.of(given);
        Duration lease = lease(given);
        return new RunOptions(
                Optional.ofNullable(given.value(RunOption.STORE)),
                maxWait,
                share,
                message(given),
                lease,
                lossPolicy(given, lease),
                leftovers(given),
                conflictExitCode(given),
                !given.has(RunOption.NO_STDIN),
                given.has(RunOption.VERBOSE),
                name,
                given.command());
    }

    /**
     * Checks the name of a lock.
     *
     * @throws CliException (usage) if there can be no lock of that name
     */
    public static String checkedName(String name) {
        try {
            return new ResourceName(name).value();
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, Printable.escape(String.valueOf(e.getMessage())), e);
        }
    }

    private static Optional<Duration> maxWait(RunArguments given) {
        String wait = given.value(RunOption.WAIT);
        if (given.has(RunOption.NONBLOCK)) {
            if (wait != null) {
                throw CliException.usage("--nonblock is the same as --wait 0; use only one of them");
            }
            return Optional.of(Duration.ZERO);
        }
        return wait == null ? Optional.empty() : Optional.of(DurationText.parse("--wait", wait));
    }

    private static Optional<String> message(RunArguments given) {
        String text = given.value(RunOption.MESSAGE);
        if (text == null) {
            return Optional.empty();
        }
        try {
            return AcquireOptions.defaults().withMessage(text).message();
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, "--message: " + Printable.escape(String.valueOf(e.getMessage())), e);
        }
    }

    private static Duration lease(RunArguments given) {
        String text = given.value(RunOption.LEASE);
        if (text == null) {
            return DEFAULT_LEASE;
        }
        Duration lease = DurationText.parse("--lease", text);
        if (lease.compareTo(MIN_LEASE) < 0) {
            throw CliException.usage("--lease must be at least 200ms, but is '" + Printable.escape(text)
                    + "': a shorter lease can't be renewed in time");
        }
        return lease;
    }

    private static LossPolicy lossPolicy(RunArguments given, Duration lease) {
        Duration third = lease.dividedBy(3);
        Duration sixth = lease.dividedBy(6);
        String text = given.value(RunOption.GRACE);
        Duration grace = sixth.compareTo(DEFAULT_GRACE) < 0 ? sixth : DEFAULT_GRACE;
        if (text != null) {
            grace = DurationText.parse("--grace", text);
            if (grace.compareTo(third) > 0) {
                // Between two renewals a healthy lease falls to about half: a longer grace would end commands that
                // still have their lock.
                throw CliException.usage("--grace (" + Printable.escape(text)
                        + ") may be at most a third of the lease (" + DurationText.format(lease)
                        + "): it must fit into the rest of the lease when renewal fails");
            }
        }
        String action = given.value(RunOption.ON_LOST);
        LossPolicy policy = LossPolicy.parse(action == null ? "term" : action, grace);
        if (text != null && policy.action() != LossPolicy.Action.TERM && policy.action() != LossPolicy.Action.EXEC) {
            throw CliException.usage("--grace has no effect with --on-lost " + action);
        }
        return policy;
    }

    private static Leftovers leftovers(RunArguments given) {
        String text = given.value(RunOption.LEFTOVERS);
        if (text == null) {
            return Leftovers.WAIT;
        }
        return switch (text) {
            case "wait" -> Leftovers.WAIT;
            case "kill" -> Leftovers.KILL;
            case "ignore" -> Leftovers.IGNORE;
            default ->
                throw CliException.usage(
                        "--leftovers takes wait, kill or ignore, but got '" + Printable.escape(text) + "'");
        };
    }

    private static int conflictExitCode(RunArguments given) {
        String text = given.value(RunOption.CONFLICT_EXIT_CODE);
        if (text == null) {
            return ExitCode.CONFLICT;
        }
        int code = DurationText.digits(text, 3);
        if (code < 0 || code > 255) {
            throw CliException.usage(
                    "--conflict-exit-code takes a number from 0 to 255, but got '" + Printable.escape(text) + "'");
        }
        return code;
    }
}
