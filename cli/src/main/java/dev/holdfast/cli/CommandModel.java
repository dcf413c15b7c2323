package dev.holdfast.cli;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.run.RunArguments;
import dev.holdfast.cli.run.RunOption;
import dev.holdfast.cli.run.RunOptions;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParseResult;

/**
 * The commands, their options and their help, for the general parser. Built without annotations, so that no package is
 * opened for reflection. Values stay strings, which {@link RunOptions} and the commands check with their own messages.
 */
final class CommandModel {

    static final String STORE = "--store";
    static final String PREFIX = "--prefix";
    static final String INTERVAL = "--interval";
    static final String JSON = "--json";
    static final String FORCE = "--force";
    static final String TOKEN = "--token";
    static final String PORT = "--port";
    static final String READ_ONLY = "--read-only";
    static final String PROXY_HOST = "--proxy-host";
    static final String NO_BROWSER = "--no-browser";
    static final String HELP = "--help";
    static final String VERSION = "--version";
    static final String NAME = "NAME";

    private CommandModel() {}

    /** The parser of all commands. */
    static CommandLine build() {
        CommandSpec root = CommandSpec.create().name("holdfast");
        root.addOption(OptionSpec.builder("-V", VERSION)
                .type(boolean.class)
                .versionHelp(true)
                .description("Show the version.")
                .build());
        root.addOption(help());
        describe(root, "Locks between processes and machines.", HelpText.ROOT);
        root.addSubcommand("run", run());
        root.addSubcommand("ls", ls());
        root.addSubcommand("show", show());
        root.addSubcommand("runs", runs());
        root.addSubcommand("release", release());
        root.addSubcommand("watch", changes());
        root.addSubcommand("top", command("Shows locks on the terminal as they change.", HelpText.TOP, store()));
        root.addSubcommand("console", console());
        root.addSubcommand("members", members());
        root.addSubcommand("config", config());
        root.addSubcommand("completion", completion());
        CommandLine line = new CommandLine(root);
        // A lock may be called '@daily', and files are never read as arguments.
        line.setExpandAtFiles(false);
        line.setUsageHelpWidth(100);
        return line;
    }

    /** The usage of a command, without colours. */
    static String usageOf(CommandLine command) {
        return command.getUsageMessage(Ansi.OFF);
    }

    /** The arguments of {@code run}, from the general parser's result for those before the separator. */
    static RunArguments runArguments(ParseResult parsed, List<String> command) {
        Map<RunOption, String> values = new EnumMap<>(RunOption.class);
        for (RunOption option : RunOption.values()) {
            if (parsed.hasMatchedOption(option.longName())) {
                values.put(option, option.takesValue() ? parsed.matchedOptionValue(option.longName(), "") : "");
            }
        }
        return new RunArguments(values, name(parsed), command);
    }

    /**
     * The command of {@code run}.
     *
     * @param words what follows the separator; empty without one
     * @throws CliException (usage) if there is none, or more than one
     */
    static List<String> command(ParseResult parsed, List<String> words) {
        String text = value(parsed, RunOption.COMMAND.longName());
        if (text == null && words.isEmpty()) {
            throw CliException.usage("the command to run is missing: holdfast run NAME -- COMMAND [ARGUMENT...]");
        }
        if (text != null && !words.isEmpty()) {
            throw CliException.usage("--command and a command after '--' exclude each other; use only one of them");
        }
        return text == null ? words : List.of("sh", "-c", text);
    }

    static String name(ParseResult parsed) {
        return parsed.matchedPositionalValue(0, "");
    }

    static @Nullable String value(ParseResult parsed, String option) {
        return parsed.matchedOptionValue(option, (String) null);
    }

    static String value(ParseResult parsed, String option, String otherwise) {
        return parsed.matchedOptionValue(option, otherwise);
    }

    private static CommandSpec run() {
        CommandSpec spec = CommandSpec.create();
        for (RunOption option : RunOption.values()) {
            OptionSpec.Builder builder = OptionSpec.builder(option.names().toArray(new String[0]))
                    .type(option.takesValue() ? String.class : boolean.class)
                    .description(literal(option.description()));
            spec.addOption((option.takesValue() ? builder.paramLabel(option.valueLabel()) : builder).build());
        }
        spec.addOption(help());
        spec.addPositional(positional(NAME, "The lock's name: 1 to 512 bytes of UTF-8, compared byte for byte."));
        describe(
                spec,
                "Runs a command while holding a lock. Releases the lock when the command and all "
                        + "its descendants have ended.",
                HelpText.RUN);
        spec.usageMessage().customSynopsis("holdfast run [OPTIONS] NAME -- COMMAND [ARGUMENT...]");
        return spec;
    }

    private static CommandSpec ls() {
        return command(
                "Lists the locks that are held or have waiters.",
                HelpText.LS,
                store(),
                option(PREFIX, "P", "List only names that begin with P."),
                json());
    }

    private static CommandSpec show() {
        return command("Shows the holders and waiters of a lock.", HelpText.SHOW, store(), json())
                .addPositional(positional(NAME, "The lock's name."));
    }

    private static CommandSpec runs() {
        return command("Shows the last runs of a scheduled task.", HelpText.RUNS, store(), json())
                .addPositional(positional(NAME, "The task's name."));
    }

    private static CommandSpec changes() {
        return command(
                "Prints a line of JSON for each lock in use, then for each change, until it is interrupted.",
                HelpText.WATCH,
                store(),
                option(PREFIX, "P", "Watch only names that begin with P."),
                option(INTERVAL, "D", "Time between two polls of the store. Default: 1s."));
    }

    private static CommandSpec console() {
        return command(
                "Serves a page for the browser that shows holders and waiters as they change.",
                HelpText.CONSOLE,
                store(),
                option(PORT, "N", "The port at 127.0.0.1. Default: any free one."),
                flag(READ_ONLY, "Refuse to release locks."),
                option(PROXY_HOST, "NAME", "Answer requests for this host too, from a proxy on this machine."),
                flag(NO_BROWSER, "Print the link, and don't open it."));
    }

    private static CommandSpec config() {
        return command("Shows the settings, and where they come from.", HelpText.CONFIG, store(), json());
    }

    private static CommandSpec release() {
        return command(
                        "Takes a lock away from its holder.",
                        HelpText.RELEASE,
                        store(),
                        flag(FORCE, "Take the lock away from its holder."),
                        option(
                                TOKEN,
                                "T",
                                "Release only the hold with this fencing token (see 'holdfast "
                                        + "show'), not a later one."))
                .addPositional(positional(NAME, "The lock's name."));
    }

    private static CommandSpec members() {
        return command("Shows the state of each member of a quorum.", HelpText.MEMBERS, store(), json());
    }

    private static CommandSpec completion() {
        return command("Prints a completion script for a shell.", HelpText.COMPLETION)
                .addPositional(positional("SHELL", "bash, zsh or fish."));
    }

    private static CommandSpec command(String headline, List<String> footer, OptionSpec... options) {
        CommandSpec spec = CommandSpec.create();
        for (OptionSpec option : options) {
            spec.addOption(option);
        }
        spec.addOption(help());
        describe(spec, headline, footer);
        return spec;
    }

    private static OptionSpec store() {
        return option(STORE, "URI", literal(RunOption.STORE.description()));
    }

    private static OptionSpec json() {
        return flag(JSON, "Print JSON, for scripts.");
    }

    private static OptionSpec help() {
        return OptionSpec.builder("-h", HELP)
                .type(boolean.class)
                .usageHelp(true)
                .description("Show this help.")
                .build();
    }

    private static OptionSpec flag(String name, String description) {
        return OptionSpec.builder(name)
                .type(boolean.class)
                .description(description)
                .build();
    }

    private static OptionSpec option(String name, String label, String description) {
        return OptionSpec.builder(name)
                .type(String.class)
                .paramLabel(label)
                .description(description)
                .build();
    }

    private static PositionalParamSpec positional(String label, String description) {
        return PositionalParamSpec.builder()
                .index("0")
                .arity("1")
                .required(true)
                .type(String.class)
                .paramLabel(label)
                .description(description)
                .build();
    }

    private static void describe(CommandSpec spec, String headline, List<String> footer) {
        UsageMessageSpec usage = spec.usageMessage();
        usage.description(headline, "");
        usage.footer(footer.toArray(new String[0]));
        usage.sortOptions(false);
        usage.sortSynopsis(false);
        usage.abbreviateSynopsis(false);
    }

    /** Escapes text for the help, which is a format string with variables. */
    private static String literal(String text) {
        return text.replace("%", "%%").replace("$", "$$");
    }
}
