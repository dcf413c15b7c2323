package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class SignalsTest {

    /**
     * What it says on its own after the signal was sent comes within milliseconds: what is read after that would never
     * end.
     */
    @Test
    void aPausedProcessDoesNothingMore() throws Exception {
        for (int attempt = 0; attempt < 20; attempt++) {
            Process talker = new ProcessBuilder("/bin/sh", "-c", "while :; do echo x; done").start();
            try (BufferedReader out = talker.inputReader()) {
                assertThat(out.readLine()).isEqualTo("x");
                Signals.pause(talker.toHandle());
                drain(out);
                assertThat(out.ready()).isFalse();
                Signals.resume(talker.toHandle());
                assertThat(out.readLine()).isNotNull();
            } finally {
                talker.destroyForcibly();
            }
        }
    }

    private static void drain(BufferedReader out) throws IOException {
        while (out.ready()) {
            var unused = out.read();
        }
    }

    @Test
    void aProcessThatIsGoneTakesNoSignal() throws Exception {
        Process gone = new ProcessBuilder("true").start();
        assertThat(gone.waitFor()).isZero();
        assertThat(Signals.trySend("CONT", gone.toHandle())).isFalse();
        assertThatThrownBy(() -> Signals.pause(gone.toHandle()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("took no STOP");
    }
}
