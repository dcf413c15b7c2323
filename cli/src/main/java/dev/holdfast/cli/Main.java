package dev.holdfast.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The entry point of the {@code holdfast} command. */
@Command(name = "holdfast", version = "holdfast 0.1.0-SNAPSHOT", mixinStandardHelpOptions = true)
public final class Main implements Runnable {
    private Main() {}

    /**
     * Runs the command and ends the JVM with its exit code.
     *
     * @param args the command line
     */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Main()).execute(args));
    }

    @Override
    public void run() {
        CommandLine.usage(this, System.out);
    }
}
