package dev.holdfast.cli;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Json;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.cli.run.DriverWarmUp;
import dev.holdfast.cli.run.RunArguments;
import dev.holdfast.cli.run.RunCommand;
import dev.holdfast.cli.run.RunOptions;
import dev.holdfast.cli.store.Configuration;
import dev.holdfast.cli.store.StoreLocation;
import dev.holdfast.cli.top.TopCommand;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** The entry point of the {@code holdfast} command. */
public final class Main {

    private static final String LOGGING = "java.util.logging.config.file";

    private Main() {}

    /**
     * Runs the command and ends the JVM with its exit code.
     *
     * @param args the command line
     */
    public static void main(String[] args) {
        muteLibraries();
        System.exit(run(Arrays.asList(args), System.getenv(), Console.ofProcess()));
    }

    /**
     * Keeps the log lines of libraries off the terminal: without a backend of SLF4J they use java.util.logging, which
     * prints to standard error by default. A configuration in $HOLDFAST_JAVA_OPTS takes precedence.
     */
    private static void muteLibraries() {
        if (System.getProperty(LOGGING) == null) {
            System.setProperty(LOGGING, "/dev/null");
        }
    }

    /** Runs the command in this process and returns its exit code. */
    public static int run(List<String> args, Map<String, String> environment, Console console) {
        try {
            RawArguments.check(args);
            if (!args.isEmpty() && args.get(0).equals("run")) {
                RunArguments plain = RunArguments.readPlain(args.subList(1, args.size()));
                if (plain != null) {
                    DriverWarmUp.begin();
                    return runCommand(plain, environment, console);
                }
            }
            return dispatch(asOption(args), environment, console);
        } catch (CliException e) {
            String message = String.valueOf(e.getMessage());
            if (wantsJson(args)) {
                console.complain(new Json()
                                .beginObject()
                                .field("error", message)
                                .field("exitCode", e.exitCode())
                                .endObject()
                        + "\n");
            } else {
                console.say(message);
            }
            return e.exitCode();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.INTERNAL;
        } catch (RuntimeException | LinkageError e) {
            console.say("this is a bug, please report it: " + Printable.escape(e.toString()));
            console.trace(e);
            return ExitCode.INTERNAL;
        }
    }

    /** Whether errors are for a program too. The command of a run has its own options. */
    private static boolean wantsJson(List<String> args) {
        return args.contains(CommandModel.JSON) && !args.get(0).equals("run");
    }

    /** {@code holdfast help [COMMAND]} is {@code holdfast [COMMAND] --help}. */
    private static List<String> asOption(List<String> args) {
        boolean isHelp = !args.isEmpty() && args.size() <= 2 && args.get(0).equals("help");
        if (isHelp && args.size() == 2 && !CommandModel.build().getSubcommands().containsKey(args.get(1))) {
            throw CliException.usage(Mistakes.unknownCommand(args.get(1), false));
        }
        return isHelp
                ? Stream.concat(args.stream().skip(1), Stream.of(CommandModel.HELP))
                        .toList()
                : args;
    }

    private static int runCommand(RunArguments arguments, Map<String, String> environment, Console console) {
        RunOptions options = RunOptions.of(arguments);
        StoreLocation location = StoreLocation.of(options.store().orElse(null), Configuration.read(environment));
        return new RunCommand(options, location, environment, console.verbose(options.verbose())).run();
    }

    private static int dispatch(List<String> args, Map<String, String> environment, Console console)
            throws InterruptedException {
        CommandLine all = CommandModel.build();
        int separator = !args.isEmpty() && args.get(0).equals("run") ? args.indexOf("--") : -1;
        List<String> front = separator < 0 ? args : args.subList(0, separator);
        ParseResult parsed;
        try {
            parsed = all.parseArgs(front.toArray(new String[0]));
        } catch (ParameterException e) {
            throw CliException.usage(Mistakes.explain(e, args));
        }
        if (parsed.isVersionHelpRequested()) {
            console.print("holdfast " + Version.read());
            return ExitCode.OK;
        }
        ParseResult command = parsed.hasSubcommand() ? parsed.subcommand() : parsed;
        if (command.isUsageHelpRequested() || parsed.isUsageHelpRequested()) {
            console.printText(CommandModel.usageOf(command.commandSpec().commandLine()));
            return console.isPrinted() ? ExitCode.OK : ExitCode.OUTPUT_FAILED;
        }
        if (command == parsed) {
            console.complain(CommandModel.usageOf(all));
            return ExitCode.USAGE;
        }
        return dispatch(
                command, separator < 0 ? List.of() : RunArguments.commandAfter(args, separator), environment, console);
    }

    private static int dispatch(
            ParseResult parsed, List<String> command, Map<String, String> environment, Console console)
            throws InterruptedException {
        int code = switch (parsed.commandSpec().name()) {
            case "run" -> {
                List<String> words = CommandModel.command(parsed, command);
                yield runCommand(CommandModel.runArguments(parsed, words), environment, console);
            }
            case "ls" ->
                new Inspection(location(parsed, environment), console)
                        .list(CommandModel.value(parsed, CommandModel.PREFIX, ""), isJson(parsed));
            case "show" -> {
                new Inspection(location(parsed, environment), console)
                        .show(RunOptions.checkedName(CommandModel.name(parsed)), isJson(parsed));
                yield ExitCode.OK;
            }
            case "runs" -> {
                new TaskRuns(location(parsed, environment), console)
                        .print(RunOptions.checkedName(CommandModel.name(parsed)), isJson(parsed));
                yield ExitCode.OK;
            }
            case "release" -> release(parsed, environment, console);
            case "watch" ->
                new Changes(location(parsed, environment), console)
                        .print(CommandModel.value(parsed, CommandModel.PREFIX, ""), interval(parsed));
            case "top" ->
                new TopCommand(location(parsed, environment), console)
                        .run(console.isTerminal() && !"dumb".equals(environment.getOrDefault("TERM", "dumb")));
            case "console" -> console(parsed, environment, console);
            case "config" ->
                new Settings(environment, CommandModel.value(parsed, CommandModel.STORE), console)
                        .print(isJson(parsed));
            case "members" -> new Members(location(parsed, environment), console).run(isJson(parsed));
            default -> {
                console.printText(Completion.scriptFor(CommandModel.name(parsed)));
                yield ExitCode.OK;
            }
        };
        return code == ExitCode.OK && !console.isPrinted() ? ExitCode.OUTPUT_FAILED : code;
    }

    private static int console(ParseResult parsed, Map<String, String> environment, Console console)
            throws InterruptedException {
        int port = DurationText.digits(CommandModel.value(parsed, CommandModel.PORT, "0"), 5);
        if (port < 0 || port > 65_535) {
            throw CliException.usage(CommandModel.PORT + " takes a number from 0 to 65535");
        }
        String proxyHost = CommandModel.value(parsed, CommandModel.PROXY_HOST);
        return new ConsolePage(location(parsed, environment), console)
                .serve(
                        port,
                        parsed.hasMatchedOption(CommandModel.READ_ONLY),
                        proxyHost == null ? Set.of() : Set.of(proxyHost),
                        parsed.hasMatchedOption(CommandModel.NO_BROWSER) ? Map.of() : environment);
    }

    private static int release(ParseResult parsed, Map<String, String> environment, Console console)
            throws InterruptedException {
        String name = RunOptions.checkedName(CommandModel.name(parsed));
        if (!parsed.hasMatchedOption(CommandModel.FORCE)) {
            throw CliException.usage("release takes the lock away from its holder, which may be in the middle of "
                    + "its work; check 'holdfast show' first, then add --force");
        }
        Release release = new Release(location(parsed, environment), console);
        String token = CommandModel.value(parsed, CommandModel.TOKEN);
        return token == null ? release.run(name) : release.run(name, Release.token(token));
    }

    private static Duration interval(ParseResult parsed) {
        Duration interval =
                DurationText.parse(CommandModel.INTERVAL, CommandModel.value(parsed, CommandModel.INTERVAL, "1s"));
        if (interval.isZero()) {
            throw CliException.usage(CommandModel.INTERVAL + " must be longer than zero");
        }
        return interval;
    }

    private static boolean isJson(ParseResult parsed) {
        return parsed.hasMatchedOption(CommandModel.JSON);
    }

    private static StoreLocation location(ParseResult parsed, Map<String, String> environment) {
        return StoreLocation.of(CommandModel.value(parsed, CommandModel.STORE), Configuration.read(environment));
    }
}
