package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess.Place;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.SlowMachine;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

/** Commands whose lock is lost because their store no longer answers. */
final class LostLock {

    /** A second, and as much as a busy machine needs; the time-outs of the stores are a minute here. */
    private static final Duration AT_MOST = Duration.ofSeconds(3);

    private static final AtomicInteger NUMBER = new AtomicInteger();

    private LostLock() {}

    /** Runs commands on a server behind a proxy, which swallows everything, and then refuses connections. */
    static void endsWithItsCommand(int port, IntFunction<Place> throughPort) throws Exception {
        SlowMachine.copes(AT_MOST, factor -> {
            try (FaultProxy proxy = FaultProxy.to(port)) {
                endsWithItsCommand(throughPort.apply(proxy.port()), factor, proxy::blackHole);
            }
        });
        SlowMachine.copes(AT_MOST, factor -> {
            try (FaultProxy proxy = FaultProxy.to(port)) {
                endsWithItsCommand(throughPort.apply(proxy.port()), factor, proxy::close);
            }
        });
    }

    /** Checks that only Holdfast's two sentences are printed, and that it ends as soon as the command has. */
    static void endsWithItsCommand(Place place, int factor, Runnable outage) {
        place.delete("child");
        String lease = 3 * factor + "s";
        // The store keeps the lock of the trial before for a while.
        String name = "x" + NUMBER.incrementAndGet();
        try (CliProcess run =
                place.start("run", "--lease", lease, name, "--", "sh", "-c", "echo $$ > child; exec sleep 600")) {
            ProcessHandle child = ProcessHandle.of(Long.parseLong(CliProcess.untilWritten(place.file("child"))))
                    .orElseThrow();
            outage.run();
            CliProcess.until("the command has ended", () -> !child.isAlive());
            long ended = System.nanoTime();

            assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.LOST);
            assertThat(Duration.ofNanos(System.nanoTime() - ended))
                    .as(run.err())
                    .isLessThan(AT_MOST.multipliedBy(factor));
            assertThat(run.err())
                    .startsWith("holdfast: lock '" + name + "' ")
                    .contains("holdfast: lock '" + name + "' was lost before the command ended")
                    .hasLineCount(2);
            assertThat(run.out()).isEmpty();
        }
    }
}
