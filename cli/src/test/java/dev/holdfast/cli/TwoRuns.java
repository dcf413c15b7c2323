package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess.Place;

/** Two commands under one name, on any store. */
final class TwoRuns {

    private TwoRuns() {}

    /** The second waits for the first, a third doesn't, all can be seen meanwhile, and the tokens rise. */
    static void oneAfterTheOther(Place place) {
        // It takes longer to open any store, which is no wait for others.
        try (CliProcess brief = place.run("run", "--wait", "1ms", "x", "--", "true")) {
            assertThat(brief.exitCode()).as(brief.err()).isZero();
        }
        try (CliProcess first = place.start(
                        "run",
                        "x",
                        "--",
                        "sh",
                        "-c",
                        "echo $HOLDFAST_TOKEN > first; while [ ! -e done ]; do sleep 0.05; done");
                CliProcess second = startWhenHeld(place)) {
            CliProcess.until("the second waits", () -> second.err().contains("waiting for 'x'"));
            try (CliProcess busy = place.run("run", "--nonblock", "x", "--", "true");
                    CliProcess brief = place.run("run", "--wait", "1ms", "x", "--", "true");
                    CliProcess list = place.run("ls");
                    CliProcess show = place.run("show", "x")) {
                assertThat(busy.exitCode()).isEqualTo(75);
                assertThat(busy.err()).contains("held by ", " pid " + first.pid());
                assertThat(brief.exitCode()).as(brief.err()).isEqualTo(75);
                assertThat(list.out()).contains("'x': held by ", "1 waiting");
                assertThat(show.out()).contains(" pid " + first.pid());
            }
            place.script("done", "");
            assertThat(first.exitCode()).isZero();
            assertThat(second.exitCode()).isZero();
            assertThat(Long.parseLong(place.read("second").strip()))
                    .isGreaterThan(Long.parseLong(place.read("first").strip()));
        }
    }

    private static CliProcess startWhenHeld(Place place) {
        CliProcess.untilWritten(place.directory().resolve("first"));
        return place.start("run", "x", "--", "sh", "-c", "echo $HOLDFAST_TOKEN > second");
    }
}
