package dev.holdfast.cli;

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
    static final String JSON = "--json";
    static final String FORCE = "--force";
    static final String TOKEN = "--token";
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
        describe(root, "Locks that hold across processes and machines.", HelpText.ROOT);
        root.addSubcommand("run", run());
        root.addSubcommand("ls", ls());
        root.addSubcommand("show", show());
        root.addSubcommand("release", release());
        root.addSubcommand("members", members());
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
                    .description(literal(option.description()));
            spec.addOption(
                    option.takesValue()
                            ? builder.type(String.class)
                                    .paramLabel(option.valueLabel())
                                    .build()
                            : builder.type(boolean.class).build());
        }
        spec.addOption(help());
        spec.addPositional(name("The lock: 1 to 512 bytes, compared byte for byte."));
        describe(
                spec,
                "Runs a command while holding a lock, and releases it when the command and all that it "
                        + "started have ended.",
                HelpText.RUN);
        spec.usageMessage().customSynopsis("holdfast run [OPTIONS] NAME -- COMMAND [ARGUMENT...]");
        return spec;
    }

    private static CommandSpec ls() {
        CommandSpec spec = CommandSpec.create();
        spec.addOption(store());
        spec.addOption(OptionSpec.builder(PREFIX)
                .type(String.class)
                .paramLabel("P")
                .description("Only names that begin with P.")
                .build());
        spec.addOption(json());
        spec.addOption(help());
        describe(spec, "Lists the locks that are held or waited for.", HelpText.LS);
        return spec;
    }

    private static CommandSpec show() {
        CommandSpec spec = CommandSpec.create();
        spec.addOption(store());
        spec.addOption(json());
        spec.addOption(help());
        spec.addPositional(name("The lock."));
        describe(spec, "Shows who holds a lock and who waits for it.", HelpText.SHOW);
        return spec;
    }

    private static CommandSpec release() {
        CommandSpec spec = CommandSpec.create();
        spec.addOption(store());
        spec.addOption(OptionSpec.builder(FORCE)
                .type(boolean.class)
                .description("Take the lock away from its holder.")
                .build());
        spec.addOption(OptionSpec.builder(TOKEN)
                .type(String.class)
                .paramLabel("T")
                .description("Only the hold with this fencing token, as 'holdfast show' tells it: a later one stays.")
                .build());
        spec.addOption(help());
        spec.addPositional(name("The lock."));
        describe(spec, "Takes a lock away from whoever holds it.", HelpText.RELEASE);
        return spec;
    }

    private static CommandSpec members() {
        CommandSpec spec = CommandSpec.create();
        spec.addOption(store());
        spec.addOption(json());
        spec.addOption(help());
        describe(spec, "Shows how the members of a quorum are doing.", HelpText.MEMBERS);
        return spec;
    }

    private static CommandSpec completion() {
        CommandSpec spec = CommandSpec.create();
        spec.addOption(help());
        spec.addPositional(PositionalParamSpec.builder()
                .index("0")
                .arity("1")
                .required(true)
                .type(String.class)
                .paramLabel("SHELL")
                .description("bash or zsh.")
                .build());
        describe(spec, "Prints a completion script for a shell.", HelpText.COMPLETION);
        return spec;
    }

    private static OptionSpec store() {
        return OptionSpec.builder(STORE)
                .type(String.class)
                .paramLabel("URI")
                .description(literal(RunOption.STORE.description()))
                .build();
    }

    private static OptionSpec json() {
        return OptionSpec.builder(JSON)
                .type(boolean.class)
                .description("Answer in JSON, for scripts.")
                .build();
    }

    private static OptionSpec help() {
        return OptionSpec.builder("-h", HELP)
                .type(boolean.class)
                .usageHelp(true)
                .description("Show this help.")
                .build();
    }

    private static PositionalParamSpec name(String description) {
        return PositionalParamSpec.builder()
                .index("0")
                .arity("1")
                .required(true)
                .type(String.class)
                .paramLabel(NAME)
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
