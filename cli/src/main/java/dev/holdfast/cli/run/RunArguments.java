package dev.holdfast.cli.run;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The command line of {@code holdfast run}, split but not yet checked.
 *
 * @param values the value of each option given; the empty string for a flag
 * @param name the name of the lock
 * @param command the command and its arguments, never empty
 */
public record RunArguments(Map<RunOption, String> values, String name, List<String> command) {

    /**
     * Splits a well-formed command line, quickly.
     *
     * <p>The general parser takes as long to start as the whole JVM, and {@code run} often runs short jobs. So this
     * method handles only what is plainly correct. For the rest (help, mistakes, {@code -w5s}) it returns null, and the
     * general parser reads the arguments again, with good messages. A test compares the results of both.
     *
     * @param args the arguments after {@code run}
     */
    public static @Nullable RunArguments readPlain(List<String> args) {
        int end = args.indexOf("--");
        if (end < 0 || end + 1 == args.size()) {
            return null;
        }
        Map<RunOption, String> values = new EnumMap<>(RunOption.class);
        String name = null;
        for (int i = 0; i < end; i++) {
            String arg = args.get(i);
            if (!arg.startsWith("-")) {
                if (name != null) {
                    return null;
                }
                name = arg;
                continue;
            }
            int equals = arg.startsWith("--") ? arg.indexOf('=') : -1;
            RunOption option = named(equals < 0 ? arg : arg.substring(0, equals));
            if (option == null || values.containsKey(option)) {
                return null;
            }
            if (!option.takesValue()) {
                if (equals >= 0) {
                    return null;
                }
                values.put(option, "");
            } else if (equals >= 0) {
                values.put(option, arg.substring(equals + 1));
            } else if (i + 1 < end && !args.get(i + 1).startsWith("-")) {
                values.put(option, args.get(++i));
            } else {
                return null;
            }
        }
        return name == null || values.containsKey(RunOption.COMMAND)
                ? null
                : new RunArguments(values, name, commandAfter(args, end));
    }

    public static List<String> commandAfter(List<String> args, int separator) {
        return Arrays.asList(args.subList(separator + 1, args.size()).toArray(new String[0]));
    }

    boolean has(RunOption option) {
        return values.containsKey(option);
    }

    @Nullable
    String value(RunOption option) {
        return values.get(option);
    }

    private static @Nullable RunOption named(String name) {
        for (RunOption option : RunOption.values()) {
            if (option.isNamed(name)) {
                return option;
            }
        }
        return null;
    }
}
