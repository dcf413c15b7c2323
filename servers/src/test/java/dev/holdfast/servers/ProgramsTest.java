package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Programs in JVMs of their own")
@Tag("process")
class ProgramsTest {

    /** Says who it is, then half a line, and goes on until it is ended. */
    static final class Speaker {
        public static void main(String... arguments) throws InterruptedException {
            System.out.println(arguments[0] + " is here");
            System.out.print("half of");
            System.out.flush();
            Thread.currentThread().join();
        }
    }

    @Test
    @DisplayName("print whole lines to one transcript, and end with it")
    void transcript() {
        ServerProcess one;
        try (Programs programs = new Programs()) {
            one = programs.start(Speaker.class, "one");
            assertThat(programs.awaitLine("(\\w+) is here").group(1)).isEqualTo("one");
            assertThat(programs.lines()).containsExactly("one is here");
            programs.start(Speaker.class, "two");
            assertThat(programs.awaitLine("half oftwo is (.*)").group(1)).isEqualTo("here");
            assertThat(programs.lines(".*is here")).hasSize(2);
            assertThat(one.isAlive()).isTrue();
        }
        assertThat(one.isAlive()).isFalse();
    }
}
