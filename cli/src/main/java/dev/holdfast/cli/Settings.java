package dev.holdfast.cli;

import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Json;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.cli.store.Configuration;
import dev.holdfast.cli.store.StoreLocation;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code holdfast config}. */
final class Settings {

    private final List<Path> files;
    private final Configuration configuration;
    private final @Nullable String option;
    private final StoreLocation location;
    private final Console console;

    /** @param option the value of {@code --store}, if it was given */
    Settings(Map<String, String> environment, @Nullable String option, Console console) {
        this.files = Configuration.files(environment);
        this.configuration = Configuration.read(environment);
        this.option = option;
        this.location = StoreLocation.of(option, configuration);
        this.console = console;
    }

    /**
     * Prints the settings, as lines that a configuration file may have, or as JSON.
     *
     * @return the exit code
     */
    int print(boolean json) {
        String store = option == null ? source(StoreLocation.VARIABLE) : "option";
        String timeout = source(StoreLocation.TIMEOUT_VARIABLE);
        Path file = configuration.file();
        if (json) {
            Json all = new Json()
                    .beginObject()
                    .field("store", location.uri().toString())
                    .field("storeFrom", store)
                    .field("timeoutMillis", location.timeout().toMillis())
                    .field("timeoutFrom", timeout);
            if (file != null) {
                all.field("file", file.toString());
            }
            console.print(all.endObject().toString());
            return ExitCode.OK;
        }
        for (Path each : files) {
            console.print("# " + Printable.escape(each.toString()) + (each.equals(file) ? ": in use" : ": not in use"));
        }
        console.print("# from: " + store);
        console.print(StoreLocation.VARIABLE + "=" + location);
        console.print("# from: " + timeout);
        console.print(StoreLocation.TIMEOUT_VARIABLE + "=" + DurationText.format(location.timeout()));
        return ExitCode.OK;
    }

    private String source(String variable) {
        return configuration.source(variable).name().toLowerCase(Locale.ROOT);
    }
}
