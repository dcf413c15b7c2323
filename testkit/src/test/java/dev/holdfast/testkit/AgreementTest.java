package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Which tokens the comparison with the reference lets pass. */
class AgreementTest {

    private static final ResourceName LEDGER = new ResourceName("ledger");

    /** Blocks of the reference: of one grant, and of the next. */
    private static final TokenBlock ONE = new TokenBlock(1, 4);

    private static final TokenBlock NEXT = new TokenBlock(5, 8);

    private final Agreement exact = agreement(false);
    private final Agreement retelling = agreement(true);

    private static Agreement agreement(boolean retells) {
        return new Agreement(Duration.ofMillis(1), false, false, retells, UnaryOperator.identity());
    }

    private static Optional<String> disagreement(Agreement agreement, long first, long last, TokenBlock reference) {
        return agreement.differ(LEDGER, granted(new TokenBlock(first, last)), granted(reference));
    }

    private static Reply.Granted granted(TokenBlock tokens) {
        return new Reply.Granted(tokens, Optional.empty(), true);
    }

    @Test
    @DisplayName("A grant is told with the tokens that it has")
    void sameTokens() {
        assertThat(disagreement(exact, 10, 13, ONE)).isEmpty();
        assertThat(disagreement(exact, 10, 13, ONE)).isEmpty();
        assertThat(disagreement(exact, 10, 14, ONE)).get().asString().contains("another one than before");
    }

    @Test
    @DisplayName("With later ones only where the store says so")
    void laterTokens() {
        assertThat(disagreement(retelling, 10, 13, ONE)).isEmpty();
        assertThat(disagreement(retelling, 10, 20, ONE)).isEmpty();
        assertThat(disagreement(retelling, 30, 30, ONE)).isEmpty();
        assertThat(disagreement(retelling, 31, 40, NEXT)).isEmpty();
    }

    @Test
    @DisplayName("With earlier ones nowhere")
    void earlierTokens() {
        assertThat(disagreement(retelling, 10, 13, ONE)).isEmpty();
        assertThat(disagreement(retelling, 9, 13, ONE)).get().asString().contains("another one than before");
        assertThat(disagreement(retelling, 10, 12, ONE)).get().asString().contains("another one than before");
    }

    @Test
    @DisplayName("The next begins above all that was told of the one before")
    void nextBeginsAboveAllThatWasTold() {
        assertThat(disagreement(retelling, 10, 13, ONE)).isEmpty();
        assertThat(disagreement(retelling, 12, 20, ONE)).isEmpty();
        assertThat(disagreement(retelling, 20, 30, NEXT)).get().asString().contains("not above");
    }

    @Test
    @DisplayName("None is told with tokens of the next, whatever that was told with later")
    void noneReachesIntoTheNext() {
        assertThat(disagreement(retelling, 10, 13, ONE)).isEmpty();
        assertThat(disagreement(retelling, 20, 30, NEXT)).isEmpty();
        assertThat(disagreement(retelling, 25, 40, NEXT)).isEmpty();
        assertThat(disagreement(retelling, 15, 20, ONE)).get().asString().contains("not below");
    }
}
