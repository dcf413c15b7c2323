package dev.holdfast.cli;

import dev.holdfast.cli.console.Printable;
import dev.holdfast.cli.console.Spelling;
import dev.holdfast.cli.run.RunOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Explains what is wrong with a command line, and what to type instead. */
final class Mistakes {

    private static final String RUN = "holdfast run NAME -- COMMAND [ARGUMENT...]";

    private static final String UNLOCK = "a lock is released when its command ends; 'holdfast release NAME --force'"
            + " takes it away from its holder";

    /** Other names of commands, some from other tools. */
    private static final Map<String, String> COMMANDS = flattened(Map.of(
            List.of("version"), "type 'holdfast --version'",
            List.of("list", "locks"), "type 'holdfast ls'",
            List.of("status", "info"), "type 'holdfast ls' for all locks, or 'holdfast show NAME' for one",
            List.of("get", "inspect", "describe"), "type 'holdfast show NAME'",
            List.of("history", "tasks"), "type 'holdfast runs NAME'",
            List.of("unlock", "free", "remove", "delete", "rm"), UNLOCK,
            List.of("lock", "hold", "acquire", "exec", "flock", "with"), "type '" + RUN + "'"));

    /** The names that flock and other tools have for options of {@code run}. */
    private static final Map<String, String> OPTIONS = flattened(Map.of(
            List.of("-e", "--ex"),
                    "locks are exclusive by default: leave it out, or use --exclusive where other "
                            + "commands use --shared",
            List.of("-u", "--unlock"), UNLOCK,
            List.of("-o", "--close", "-F", "--no-fork"),
                    "leave it out: the command never inherits the lock, and holdfast keeps running to renew it",
            List.of("-t", "--timeout", "--wait-time"), "to limit the wait for the lock, use --wait 5s",
            List.of("--ttl", "--lease-time", "--expire"), "use --lease 30s",
            List.of("--name", "--key", "--lock"), "the name needs no option: " + RUN,
            List.of("--try", "--no-wait", "--nowait", "--nb"), "use --nonblock",
            List.of("-v"), "use --verbose"));

    private Mistakes() {}

    /**
     * Explains why the parser rejected a command line.
     *
     * @param args the whole command line
     */
    static String explain(ParameterException mistake, List<String> args) {
        CommandSpec command = mistake.getCommandLine().getCommandSpec();
        List<String> front = args.contains("--") ? args.subList(0, args.indexOf("--")) : args;
        if (mistake instanceof UnmatchedArgumentException unmatched) {
            String word = unmatched.getUnmatched().get(0);
            if (word.startsWith("-")) {
                return unknownOption(command, word);
            }
            return command.parent() == null
                    ? unknownCommand(word, args.contains("--"))
                    : oneTooMany(command.name(), word, args, front);
        } else if (mistake instanceof MissingParameterException missing) {
            return missing(command.name(), missing.getMissing().get(0), front);
        }
        return Printable.escape(String.valueOf(mistake.getMessage())) + tryHelp(command);
    }

    /** The message about a word in the place of a command. */
    static String unknownCommand(String word, boolean runsSomething) {
        Set<String> known = CommandModel.build().getSubcommands().keySet();
        Optional<String> near = Spelling.nearest(word, known);
        String hint = COMMANDS.get(word);
        if (hint == null) {
            hint = near.isPresent()
                    ? "Did you mean " + near.get() + "?"
                    : runsSomething
                            ? "to run something under a lock, type '" + RUN + "'"
                            : "the commands are " + String.join(", ", known);
        }
        return "there is no command " + Printable.quote(word)
                + (near.isPresent() && hint.startsWith("Did") ? ". " : "; ") + hint;
    }

    private static String unknownOption(CommandSpec command, String word) {
        String name = word.contains("=") ? word.substring(0, word.indexOf('=')) : word;
        boolean isRoot = command.parent() == null;
        boolean isOfRun = Arrays.stream(RunOption.values())
                .anyMatch(option -> option.names().contains(name));
        String hint = isRoot || command.name().equals("run") ? OPTIONS.get(name) : null;
        String text = "unknown option " + Printable.quote(name);
        if (hint != null) {
            return text + "; " + hint;
        } else if (isOfRun) {
            return text + (isRoot ? ": put it after 'run'" : " of " + command.name() + ": only run supports it");
        }
        List<String> known = command.options().stream()
                .flatMap(option -> Stream.of(option.names()))
                .filter(each -> each.startsWith("--"))
                .toList();
        return text
                + Spelling.nearest(name, known)
                        .map(near -> ". Did you mean " + near + "?")
                        .orElseGet(() -> tryHelp(command));
    }

    private static String oneTooMany(String command, String word, List<String> args, List<String> front) {
        String quoted = Printable.quote(word);
        if (!command.equals("run")) {
            boolean takesOne = List.of("show", "runs", "release", "completion").contains(command);
            return command.equals("ls")
                    ? "ls takes no name: 'holdfast show NAME' shows one lock, and 'holdfast ls "
                            + "--prefix P' lists all whose names begin with P"
                    : command + " takes "
                            + (takesOne ? "one argument" : "no name") + ", but got " + quoted
                            + (takesOne ? " too" : "");
        }
        int nonblock = Math.max(front.indexOf("-n"), front.indexOf("--nonblock"));
        if (nonblock >= 0
                && nonblock + 1 < front.size()
                && front.get(nonblock + 1).matches("[0-9]+")) {
            String number = front.get(nonblock + 1);
            return front.get(nonblock) + " takes no number: to run " + number + " at a time, use --permits 1/" + number
                    + "; to wait at most " + number + " seconds, use --wait " + number;
        }
        return args.contains("--")
                ? "unexpected second name " + quoted
                        + ": run takes one lock; to hold two, nest the commands: holdfast run NAME -- "
                        + "holdfast run NAME -- COMMAND"
                : "'--' is missing before the command: " + RUN;
    }

    private static String missing(String command, ArgSpec missing, List<String> front) {
        if (missing.isOption()) {
            String option = front.get(front.size() - 1);
            return option + " needs a value: " + option + " " + missing.paramLabel();
        } else if (!missing.paramLabel().equals(CommandModel.NAME)) {
            return "the " + missing.paramLabel() + " is missing: holdfast " + command + " bash, zsh or fish";
        } else if (!command.equals("run")) {
            return "the name of the lock is missing: holdfast " + command + " NAME";
        }
        String last = front.get(front.size() - 1);
        String before = front.size() < 2 ? "" : front.get(front.size() - 2);
        boolean isSwallowed = Arrays.stream(RunOption.values())
                .anyMatch(option -> option.takesValue() && option.names().contains(before));
        return "the name of the lock is missing"
                + (isSwallowed ? ", because " + Printable.quote(last) + " is the value of " + before : "") + ": " + RUN;
    }

    private static String tryHelp(CommandSpec command) {
        return "\nTry '" + command.qualifiedName() + " --help'.";
    }

    private static Map<String, String> flattened(Map<List<String>, String> hints) {
        Map<String, String> all = new HashMap<>();
        hints.forEach((words, hint) -> words.forEach(word -> all.put(word, hint)));
        return all;
    }
}
