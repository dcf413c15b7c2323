package dev.holdfast.benchmarks.harness;

import java.io.IOException;

/** The JVM of a program that computes without a break, until the process that started it ends. */
public final class BusyLoop {

    private BusyLoop() {}

    public static void main(String[] args) throws IOException {
        Thread thread = new Thread(() -> {
            while (true) {
                Thread.onSpinWait();
            }
        });
        thread.setDaemon(true);
        thread.start();
        // Its end of the pipe is closed when the other process ends.
        var unused = System.in.read();
    }
}
