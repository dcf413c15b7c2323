package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquireOptions;
import dev.holdfast.spi.Command.Annotate;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The annotation of a grant, with a message of 200 bytes")
class GrantNoteTest extends ResourceFixture {

    private static final String MESSAGE = "ß".repeat(100);

    /** What is left for the lines, each with its line break. */
    private static final int LEFT = Annotate.MAX_TEXT_BYTES - 200;

    private Request holder;

    @BeforeEach
    void hold() {
        AcquireTerms terms = AcquireTerms.of(AcquireOptions.defaults().withMessage(MESSAGE));
        holder = entered(request(Mode.owned(grants.resource().spec, 1), alice, terms));
        assertThat(text()).isEqualTo(MESSAGE);
    }

    @AfterEach
    void release() {
        release(holder);
    }

    /** The text that was sent last. */
    private String text() {
        List<Annotate> sent = link.sent(Annotate.class);
        return sent.get(sent.size() - 1).text();
    }

    private void waits(String... lines) {
        holdOf(holder).grant().setWaits(List.of(lines));
    }

    @Test
    @DisplayName("has all the lines about waits, in their order, if they just fit")
    void fits() {
        String first = "é".repeat(200);
        String last = "x".repeat(LEFT - 1 - 400 - 1);

        waits(first, last);

        assertThat(text()).isEqualTo(MESSAGE + "\n" + first + "\n" + last);
    }

    @Test
    @DisplayName("ends before the first line that does not fit, if only by a byte")
    void tooLong() {
        String first = "é".repeat(200);
        String tooLong = "x".repeat(LEFT - 1 - 400);

        waits(first, tooLong, "short");

        assertThat(text()).isEqualTo(MESSAGE + "\n" + first);
    }
}
